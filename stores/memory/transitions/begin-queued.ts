import { isTerminal } from '../../../protocol/run.js';
import type { BeginQueuedInput, BeginQueuedResult } from '../../contract/queue.js';
import { makeRun } from '../make-run.js';
import { popQueued } from '../queue.js';
import type { MemorySession, StoreContext } from '../session.js';

/** Makes a run for the messages that have waited longest. */
export function beginQueued(
  session: MemorySession,
  { nonce, now }: BeginQueuedInput,
  context: StoreContext,
): BeginQueuedResult {
  const { identity, run } = session;
  const { agent = '', tenant = '' } = identity ?? {};
  const told = tenant === '' ? {} : { tenant };
  if (run?.runId.endsWith(`-${nonce}`) === true) {
    const { runId, turn, messageId, startSequence } = run;
    const begun = { sessionId: session.id, runId, agent, turn, messageId, startSequence };
    return { kind: 'begun', run: { ...begun, startedAt: now }, ...told };
  }
  if (run !== undefined && !isTerminal(run.status)) return { kind: 'busy' };
  if (session.queue.length === 0) return { kind: 'empty' };
  const made = { agent, nonce, now, messages: popQueued(session), waited: true };
  return { kind: 'begun', run: makeRun(session, made, context), ...told };
}
