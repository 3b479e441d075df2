import { isTerminal } from '../../../../protocol/run.js';
import type { Records } from '../record/records.js';
import type { Exploration, Violation } from './explore.js';

/**
 * P3: from every state the conversation reaches rest by fair actions alone: workers work, people
 * answer, the sweep runs. It needs no further message and no stop.
 *
 * @returns the first state from which it does not
 */
export function findStuck(
  { states, fair, trace }: Exploration,
  records: Records,
): Violation | undefined {
  const rests = new Uint8Array(states.size());
  for (let state = 0; state < rests.length; state += 1) {
    const { record } = records.facts(states.record(state));
    const isAtRest = record === undefined || (isTerminal(record.status) && record.queued === 0);
    if (isAtRest) rests[state] = 1;
  }
  // Most actions lead to states that were found later, so few rounds are needed. The last one finds nothing.
  for (let isNew = true; isNew;) {
    isNew = false;
    for (let edge = fair.size() - 1; edge >= 0; edge -= 1) {
      const from = fair.from(edge);
      if (rests[from] === 1 || rests[fair.to(edge)] !== 1) continue;
      rests[from] = 1;
      isNew = true;
    }
  }
  const stuck = rests.indexOf(0);
  if (stuck < 0) return undefined;
  return { rule: 'P3, rest is reachable from every state', trace: trace(stuck) };
}
