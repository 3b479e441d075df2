import { toJudged, type Viewer } from '../../ai-sdk/index.js';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { isTerminal } from '../../protocol/run.js';
import { formatWireEvent, toWireEvents, type StreamEvent } from '../../protocol/agent-server.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

type Log = Pick<StreamManager, 'read' | 'follow'>;

/** The end of an ended run is searched in this many of the newest entries. */
const NEAR_END = 50;

/**
 * Follows a session's stream as wire events after a sequence, across pauses, to the end of the run
 * that was newest at the time of the request. It skips earlier ends (of other turns, or of a
 * resumed interrupt), since a reader stops at the first end.
 *
 * @throws the error that broke off following; the events are incomplete then
 */
export async function* createAgentEvents(
  log: Log,
  record: SessionRecord,
  fromSequence: number,
  signal: AbortSignal,
  viewer?: Viewer,
): AsyncGenerator<string> {
  const { sessionId } = record;
  const end = isTerminal(record.status) ? await findEnd(log, record) : undefined;
  if (end !== undefined && (end.isGone || fromSequence >= end.sequence)) {
    // The reader has everything, but may not know that the run has ended.
    yield formatWireEvent({ id: Math.max(fromSequence, end.sequence), event: end.event });
    return;
  }
  const firstEnd = end?.sequence ?? record.sequence + 1;
  for await (const entries of log.follow(sessionId, fromSequence, signal)) {
    const withheld = await toWithheld(viewer, entries);
    const wires = entries.flatMap((entry) => {
      const shown = toShown(entry.message);
      const message = withheld.has(entry.message) ? { ...shown, mayDecide: false } : shown;
      const all = toWireEvents({ ...entry, message });
      return all.filter((wire) => !isEnd(wire) || entry.sequence >= firstEnd);
    });
    const ends = wires.findIndex(isEnd);
    const sent = ends < 0 ? wires : wires.slice(0, ends + 1);
    if (sent.length > 0) yield sent.map(formatWireEvent).join('');
    if (ends >= 0) return;
  }
}

function isEnd({ event }: { event: StreamEvent }): boolean {
  return event.type === 'end' || event.type === 'fail';
}

/** Returns the approval requests that the reader may not decide. */
async function toWithheld(
  viewer: Viewer | undefined,
  entries: readonly LogEntry[],
): Promise<ReadonlySet<StreamMessage>> {
  const withheld = new Set<StreamMessage>();
  if (viewer === undefined) return withheld;
  for (const question of toJudged(viewer, entries)) {
    if (!(await viewer.mayDecide(question))) withheld.add(question);
  }
  return withheld;
}

/** Shows clients the ids that they know: a client compares `agentId` with the session's id. */
function toShown<M extends StreamMessage>(message: M): M {
  const named: Partial<Record<'agentId' | 'subSessionId', string>> = {};
  if ('agentId' in message) named.agentId = toShownSessionId(message.agentId);
  if ('subSessionId' in message) named.subSessionId = toShownSessionId(message.subSessionId);
  return { ...message, ...named };
}

/** Finds the end of an ended run, or rebuilds it from the record if its entry has expired. */
async function findEnd(
  log: Log,
  { sessionId, sequence, status, error, output }: SessionRecord,
): Promise<{ sequence: number; event: StreamEvent; isGone: boolean }> {
  const near = await log.read(sessionId, Math.max(0, sequence - NEAR_END), LIMITS.replayPage);
  for (const entry of near.reverse()) {
    if (entry.message.type !== 'stream_end' || entry.sequence > sequence) continue;
    const [wire] = toWireEvents(entry);
    if (wire !== undefined) return { sequence: entry.sequence, event: wire.event, isGone: false };
  }
  const hasFailed = status === 'failed' || status === 'aborted';
  const event: StreamEvent = hasFailed
    ? { type: 'fail', error: error?.message ?? 'The run failed.' }
    : { type: 'end', finalOutput: output };
  return { sequence, event, isGone: true };
}
