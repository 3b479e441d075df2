import { setFlagsFromString } from 'node:v8';
import { checkAll } from './invariants/index.js';
import { play } from './record/play.js';
import { createRecords } from './record/records.js';
import { BUDGETS, DEEP_BUDGETS } from './search/budgets.js';
import { explore } from './search/explore.js';

// The one long loop of all tests: here it pays to optimise what is executed (see scripts/test.mjs).
setFlagsFromString('--interrupt-budget=132000');

const isDeep = process.env['EXPLORE'] === 'deep';

describe('every order of actions', () => {
  // The budgets have most records in common: what is known of one is not found out again.
  const records = createRecords(play, checkAll);
  let states = 0;

  it.each(isDeep ? [...BUDGETS, ...DEEP_BUDGETS] : BUDGETS)(
    'every order of actions with %s keeps all rules, and rest stays reachable',
    (_, budget, atLeast) => {
      const explored = explore(records, budget);
      expect(explored.violation).toBeUndefined();
      // Fewer states mean that the exploration covers less than it says.
      expect(explored.states).toBeGreaterThan(atLeast);
      states += explored.states;
    },
    1_800_000,
  );

  afterAll(() => {
    const counts = [`${String(states)} states`, `${String(records.size())} records`];
    process.stderr.write(`${counts.join(', ')}, ${String(records.played())} requests\n`);
  });
});
