import { isTerminal } from '../../../protocol/run.js';
import type { MarkResult, StreamMark } from '../../contract/log.js';
import { toControlMessage } from '../../log/control-message-of.js';
import { armExpiry } from '../expiry.js';
import { writeControl } from '../log.js';
import type { MemorySession, StoreContext } from '../session.js';

/** Pauses, resumes or ends a stream that no run owns. The first end counts. */
export function mark(
  session: MemorySession,
  to: StreamMark,
  now: number,
  context: StoreContext,
): MarkResult {
  const { stream, run } = session;
  if (stream === undefined) return { kind: 'not_found' };
  if (run !== undefined && !isTerminal(run.status)) return { kind: 'owned' };
  if (stream === 'ended' || stream === 'failed' || stream === to.status) {
    return { kind: 'unchanged' };
  }
  writeControl(session.log, toControlMessage(session.id, to, now));
  session.stream = to.status;
  session.updatedAt = now;
  if (to.status === 'failed') session.streamError = to.error;
  if (to.status === 'ended' || to.status === 'failed') {
    session.writers.clear();
    session.failures.clear();
    armExpiry(session, context);
  }
  return { kind: 'marked' };
}
