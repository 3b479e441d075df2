import { afterAll, describe, expect, it } from '@jest/globals';
import { checkAll } from './invariants/index.js';
import { play } from './record/play.js';
import { createRecords } from './record/records.js';
import { BUDGETS } from './search/budgets.js';
import { explore } from './search/explore.js';
import { findStuck } from './search/rest.js';

describe('every order of actions', () => {
  const sum = { states: 0, records: 0, transitions: 0 };

  it.each(BUDGETS)(
    'every order of actions with %s keeps all rules, and rest stays reachable',
    (_, budget, atLeast) => {
      const records = createRecords(play, checkAll);
      const explored = explore(records, budget);
      expect(explored.violation ?? findStuck(explored, records)).toBeUndefined();
      // Fewer states mean that the exploration covers less than it says.
      const size = explored.states.size();
      expect(size).toBeGreaterThan(atLeast);
      sum.states += size;
      sum.records += records.size();
      sum.transitions += records.played();
    },
    600_000,
  );

  afterAll(() => {
    const { states, records, transitions } = sum;
    process.stderr.write(
      `${String(states)} states, ${String(records)} records, ${String(transitions)} transitions\n`,
    );
  });
});
