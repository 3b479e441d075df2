import type { Decision, Row } from '../../../../protocol/rows.js';
import { callOf } from '../plan.js';
import { TIMEOUT, toolRows } from './log.js';
import { agentsOf, first, invariant, type StoredAgent } from './stored.js';

/** Each call is settled once, starts only with an approval, and is never left open. */
export const CALLS = [
  invariant('P4', 'each call has one result, before the next message', (after) =>
    first(agentsOf(after), findUnpaired),
  ),
  invariant('P4', 'a call is open, or its one result is in the transcript', (after) =>
    first(agentsOf(after), (agent) => {
      const { calls, takenIn } = agent;
      const twice = calls.find(({ id }) => takenIn.includes(id));
      if (twice !== undefined) return `${twice.id} is open and taken in`;
      const results = toolRows(agent).map(({ toolCallId }) => toolCallId);
      // Calls that tools wait for were not made by the model.
      const called = new Set(agent.rows.flatMap(callsIn));
      const lost = takenIn.find((id) => called.has(id) && !results.includes(id));
      if (lost !== undefined) return `${lost} is taken in without a result`;
      const unsettled = calls.find(
        ({ state, row }) => (state === 'settled') !== (row !== undefined),
      );
      return unsettled && `${unsettled.id} is ${unsettled.state}`;
    }),
  ),
  invariant(
    'P4',
    'a result is never replaced, a timeout only by the result itself',
    (after, before) =>
      first(agentsOf(before), ({ sessionId, calls }) => {
        const agent = agentsOf(after).find((each) => each.sessionId === sessionId);
        for (const { id, row } of calls) {
          const now = agent?.calls.find((call) => call.id === id)?.row;
          if (row === undefined || now === undefined) continue;
          if (now !== row && !row.includes(TIMEOUT)) return `that of ${id} was`;
        }
        return undefined;
      }),
  ),
  invariant('P5', 'a call starts only once a person has approved it', (after) =>
    first(agentsOf(after), ({ calls }) => {
      const started = calls.find(
        ({ kind, state, decision }) =>
          kind === 'approval' &&
          (state === 'started' || state === 'approved') &&
          !isApproved(decision),
      );
      return started && `${started.id} has`;
    }),
  ),
  invariant('P4', 'only an idempotent call starts twice', (after) =>
    first(agentsOf(after), ({ calls }) => {
      const again = calls.find(({ id, n }) => n > 1 && callOf(id).isIdempotent !== true);
      return again && `${again.id} has`;
    }),
  ),
  invariant(
    'P6',
    "a run that has ended leaves no call open, neither its own nor a sub-agent's",
    ({ conversation, sub }) => {
      if (conversation?.isOver !== true) return undefined;
      if (sub?.isOver === false) return 'its sub-agent is live';
      return first(
        [conversation, sub].filter((agent) => agent !== undefined),
        ({ calls }) => calls[0] && `${calls[0].id} is open`,
      );
    },
  ),
];

function findUnpaired(agent: StoredAgent): string | undefined {
  let open = new Set<string>();
  for (const row of agent.rows) {
    if (row.role !== 'user' && row.display === true) continue;
    if (row.role === 'tool') {
      if (!open.delete(row.toolCallId)) return `a result of ${row.toolCallId} without its call`;
      continue;
    }
    if (open.size > 0) return `${[...open].join()} has no result before the next message`;
    if (row.role !== 'assistant') continue;
    open = new Set(callsIn(row));
  }
  const missing = [...open].find((id) => !agent.calls.some((call) => call.id === id));
  return missing && `${missing} is neither open nor settled`;
}

/** Returns the model's calls in a row. */
function callsIn(row: Row): string[] {
  if (row.role !== 'assistant' || row.display === true) return [];
  return row.parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
}

function isApproved(decision: string | undefined): boolean {
  return decision !== undefined && (JSON.parse(decision) as Decision).approved;
}
