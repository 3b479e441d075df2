import type { LogEntry, StreamMessage } from '../protocol/chunk.js';
import type { StreamManager } from '../stores/stream-manager.js';
import { FrameWriter } from './frame-writer.js';
import { toMessageEvents } from './message-events.js';
import { replayRange } from './replay-range.js';
import { SSE_DONE } from './sse.js';
import { StreamTransformer } from './stream-transformer.js';
import { isBeyond, type StoredSteps } from './turn-origin.js';
import type { StreamProfile } from './ui-stream-part.js';

/** The reading half of a log. */
export type LogReader = Pick<StreamManager, 'read' | 'follow'>;

/** Which part of a turn a response carries. */
export interface TurnSpan {
  sessionId: string;
  /** Id of the assistant message. */
  messageId: string;
  /** Sequence before the first entry. */
  from: number;
  /**
   * `live`: on until the first pause or end beyond `after`.
   * `stored`: up to and including `upTo`, which the log has already.
   */
  until: { kind: 'live'; after: number } | { kind: 'stored'; upTo: number };
  /** True if the client has the message up to `from`. */
  isTail: boolean;
  /** The client has everything up to here; only what it needs to go on is told again. */
  seenUpTo?: number;
  /** Steps that are told from their rows, before anything of the log. */
  stored?: StoredSteps;
  /** Calls that wait for an approval at sequence `asOf`; earlier requests for others are left out. */
  waiting?: { calls: ReadonlySet<string>; asOf: number };
  profile: StreamProfile;
}

/** The response cannot be completed; its connection is to be cut, never ended. */
export class StreamBrokenError extends Error {
  override readonly name = 'StreamBrokenError';
}

/** A replay is handed over in pieces of about this size: few writes, and little that waits. */
const REPLAY_CHARS = 32_768;

/**
 * The SSE frames of a turn: one string for what arrived together. Returns early when the signal
 * fires.
 *
 * @throws StreamBrokenError when the reader holds parts that were withdrawn, or the log breaks off
 */
export async function* createTurnFrames(
  streamManager: LogReader,
  span: TurnSpan,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let position = span.from;
  const transformer = new StreamTransformer({
    generateMessageId: () => span.messageId,
    agentId: span.sessionId,
    profile: span.profile,
    isTail: span.isTail,
    isAnswered: (toolCallId) => isAnswered(span, toolCallId, position),
  });
  const writer = new FrameWriter();
  const accept = (entries: readonly LogEntry[]): void => {
    for (const entry of entries) {
      if (span.stored !== undefined && !isBeyond(span.stored, entry)) continue;
      position = entry.sequence;
      const transformed = transformer.transform(entry);
      if (transformed.mustCut) throw new StreamBrokenError('an attempt was withdrawn');
      writer.add(transformed);
    }
  };
  writer.add({ events: transformer.start() });
  if (span.stored !== undefined) {
    writer.add({ events: toMessageEvents(span.stored.message, span.profile) });
  }
  yield writer.take();

  const { sessionId, until, seenUpTo = span.from } = span;
  for await (const entries of replayRange(streamManager, sessionId, span.from, seenUpTo)) {
    if (signal.aborted) return;
    for (const entry of entries) {
      position = entry.sequence;
      transformer.transform(entry);
    }
  }
  if (span.seenUpTo !== undefined) writer.add({ events: transformer.reopen() });

  const known = until.kind === 'live' ? Math.max(until.after, seenUpTo) : until.upTo;
  for await (const entries of replayRange(streamManager, sessionId, seenUpTo, known)) {
    if (signal.aborted) return;
    accept(entries);
    if (writer.size >= REPLAY_CHARS) yield writer.take();
  }
  if (until.kind === 'live') {
    if (writer.size > 0) yield writer.take();
    for await (const entries of followTurn(streamManager, sessionId, known, signal)) {
      accept(entries);
      const text = writer.take();
      if (text !== '') yield text;
    }
  }
  if (signal.aborted) return;
  writer.add(transformer.finalize());
  yield writer.take() + SSE_DONE;
}

/** What follows `after`, up to and including the turn's next stop, or until the signal fires. */
async function* followTurn(
  streamManager: LogReader,
  sessionId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[], void, undefined> {
  for await (const entries of streamManager.follow(sessionId, after, signal)) {
    const last = entries.findIndex(({ message }) => isStop(sessionId, message));
    yield last < 0 ? entries : entries.slice(0, last + 1);
    if (last >= 0) return;
  }
  if (!signal.aborted) throw new StreamBrokenError('the log broke off');
}

/** A pause or an end, never a status field, is where a live reader stops. */
function isStop(sessionId: string, message: StreamMessage): boolean {
  if (message.type === 'stream_end') return true;
  return message.type === 'run_paused' && message.agentId === sessionId;
}

function isAnswered(span: TurnSpan, toolCallId: string, position: number): boolean {
  if (span.waiting === undefined || position > span.waiting.asOf) return false;
  return !span.waiting.calls.has(toolCallId);
}
