import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  checkInvariants,
  findAccepted,
  findDoneTwice,
  INVARIANTS,
  REPEAT_RULE,
} from './invariants/index.js';
import { PLANTED_BUGS, type PlantedBug } from './planted/bugs.js';
import { createRecords, type Check } from './record/records.js';
import { ONE_MESSAGE } from './search/budgets.js';
import { explore, type Violation } from './search/explore.js';

const file = fileURLToPath(new URL('planted/traces.txt', import.meta.url));

/** The shortest trace to a planted bug, by the rule that it breaks alone. */
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

it('each rule finds a planted bug, with its shortest trace', async () => {
  const missed: string[] = [];
  const found = PLANTED_BUGS.map((planted) => {
    const violation = findBug(planted);

    const { rule = 'nothing', trace = [] } = violation ?? {};
    if (!rule.startsWith(planted.rule))
      missed.push(`${planted.bug}: found ${rule}, not ${planted.rule}`);
    return [`${planted.bug}\n  breaks ${rule}`, ...trace.map((each) => `    ${each}`)].join('\n');
  });
  expect(missed).toEqual([]);
  const text = `${found.join('\n\n')}\n`;
  if (process.env['UPDATE_STATES'] !== undefined) await writeFile(file, text);
  expect(text).toBe(await readFile(file, 'utf8'));
}, 120_000);

it('each invariant has a planted bug', () => {
  const rules = new Set(PLANTED_BUGS.map(({ rule }) => rule));
  expect(INVARIANTS.filter(({ rule }) => !rules.has(rule))).toEqual([]);
});
