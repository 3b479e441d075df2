import {
  checkInvariants,
  findAccepted,
  findDoneTwice,
  INVARIANTS,
  REPEAT_RULE,
} from './invariants/index.js';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.js';
import { createRecords, type Check } from './record/records.js';
import { ONE_MESSAGE } from './search/budgets.js';
import { explore, type Violation } from './search/explore.js';

/** Explores a planted bug and checks only the rule that it breaks. */
function findBug({ rule, play, budget }: PlantedBug): Violation | undefined {
  const check: Check = (played) => {
    if (rule.endsWith('a stale request is refused')) {
      const found = findAccepted(played);
      return found?.startsWith(rule) === true ? found : undefined;
    }
    return rule === REPEAT_RULE ? findDoneTwice(played) : checkInvariants(played, rule);
  };
  const records = createRecords(play, check);
  return explore(records, { ...ONE_MESSAGE, ...budget }).violation;
}

it.each(PLANTED_BUGS)('$rule: finds that $bug', (planted) => {
  const violation = findBug(planted);
  expect(violation?.rule.slice(0, planted.rule.length)).toBe(planted.rule);
  expect(violation?.trace).not.toHaveLength(0);
});

it('each invariant has a planted bug', () => {
  const rules = new Set(PLANTED_BUGS.map(({ rule }) => rule));
  expect(INVARIANTS.filter(({ rule }) => !rules.has(rule))).toEqual([]);
});
