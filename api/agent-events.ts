import type { StreamMessage } from '../protocol/chunk.js';
import { toShownSessionId } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal } from '../protocol/run.js';
import { toWireEvents, type StreamEvent } from '../protocol/wire-events.js';
import { formatWireEvent } from '../protocol/wire-text.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { StreamManager } from '../stores/log/stream-manager.js';

type Log = Pick<StreamManager, 'read' | 'follow'>;

/** Entries in which the end of a run that has ended is looked for. */
const NEAR_END = 50;

/**
 * A session's stream as wire events after a sequence: stays open across pauses, is complete with the
 * end of the run that was the newest one when it was asked for. Ends that were overtaken by then
 * (earlier turns, an interrupt that was resumed) are left out, since readers take an end for the end.
 *
 * @throws what breaks following off; the events are not complete then
 */
export async function* createAgentEvents(
  log: Log,
  record: SessionRecord,
  fromSequence: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { sessionId } = record;
  const end = isTerminal(record.status) ? await findEnd(log, record) : undefined;
  if (end !== undefined && fromSequence >= end.sequence) {
    // Its reader knows everything but, perhaps, that this is all.
    yield formatWireEvent({ id: fromSequence, event: end.event });
    return;
  }
  const firstEnd = end?.sequence ?? record.sequence + 1;
  for await (const entries of log.follow(sessionId, fromSequence, signal)) {
    let text = '';
    for (const entry of entries) {
      for (const told of toWireEvents({ ...entry, message: toShown(entry.message) })) {
        const isEnd = told.event.type === 'end' || told.event.type === 'fail';
        if (isEnd && entry.sequence < firstEnd) continue;
        text += formatWireEvent(told);
        if (!isEnd) continue;
        yield text;
        return;
      }
    }
    if (text !== '') yield text;
  }
}

/** A chunk as clients know its agents: those that follow a stream tell its own by the session's id. */
function toShown<M extends StreamMessage>(message: M): M {
  const named: Partial<Record<'agentId' | 'subSessionId', string>> = {};
  if ('agentId' in message) named.agentId = toShownSessionId(message.agentId);
  if ('subSessionId' in message) named.subSessionId = toShownSessionId(message.subSessionId);
  return { ...message, ...named };
}

/** The end of a run that has ended; made up from the record if its entry has expired. */
async function findEnd(
  log: Log,
  { sessionId, sequence, status, error, output }: SessionRecord,
): Promise<{ sequence: number; event: StreamEvent }> {
  const near = await log.read(sessionId, Math.max(0, sequence - NEAR_END), LIMITS.replayPage);
  for (const entry of near.reverse()) {
    if (entry.message.type !== 'stream_end' || entry.sequence > sequence) continue;
    const [told] = toWireEvents(entry);
    if (told !== undefined) return { sequence: entry.sequence, event: told.event };
  }
  const hasFailed = status === 'failed' || status === 'aborted';
  const event: StreamEvent = hasFailed
    ? { type: 'fail', error: error?.message ?? 'The run failed.' }
    : { type: 'end', ...(output !== undefined && { finalOutput: output }) };
  return { sequence, event };
}
