import { setFlagsFromString } from 'node:v8';
import { checkAll } from './invariants/index.js';
import { play } from './record/play.js';
import { createRecords } from './record/records.js';
import { BUDGETS, DEEP_BUDGETS } from './search/budgets.js';
import { explore } from './search/explore.js';

// This is the only long loop of all tests, where optimised code pays off (see scripts/test.mjs).
setFlagsFromString('--interrupt-budget=132000');

const isDeep = process.env['EXPLORE'] === 'deep';

describe('every order of actions', () => {
  // The budgets share most records, so their results are kept.
  const records = createRecords(play, checkAll);
  let states = 0;

  it.each(isDeep ? [...BUDGETS, ...DEEP_BUDGETS] : BUDGETS)(
    'every order of actions with %s keeps all rules, and rest stays reachable',
    (_, budget, atLeast) => {
      const explored = explore(records, budget);
      expect(explored.violation).toBeUndefined();
      // Fewer states would mean that the exploration no longer covers its budget.
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
