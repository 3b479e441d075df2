import type { LogEntry } from '../protocol/chunk.js';
import { LIMITS } from '../protocol/limits.js';
import type { StreamManager } from '../stores/stream-manager.js';
import { FrameWriter } from './frame-writer.js';
import { SSE_DONE } from './sse.js';
import { StreamTransformer } from './stream-transformer.js';
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
  /** Calls that wait for an approval at sequence `asOf`; earlier requests for others are left out. */
  waiting?: { calls: ReadonlySet<string>; asOf: number };
  profile: StreamProfile;
}

/** The response cannot be completed; its connection is to be cut, never ended. */
export class StreamBrokenError extends Error {
  override readonly name = 'StreamBrokenError';
}

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
  writer.add({ events: transformer.start() });
  yield writer.take();
  let isSkipping = span.seenUpTo !== undefined;
  for await (const entries of readSpan(streamManager, span, signal)) {
    for (const entry of entries) {
      position = entry.sequence;
      if (isSkipping && position > (span.seenUpTo ?? 0)) {
        isSkipping = false;
        writer.add({ events: transformer.reopen() });
      }
      const transformed = transformer.transform(entry);
      if (isSkipping) continue;
      if (transformed.mustCut) throw new StreamBrokenError('an attempt was withdrawn');
      writer.add(transformed);
      if (isLast(span, entry)) break;
    }
    const text = writer.take();
    if (text !== '') yield text;
  }
  if (signal.aborted) return;
  writer.add(transformer.finalize());
  yield writer.take() + SSE_DONE;
}

/** The span's entries; returns after its last one, or when the signal fires. */
async function* readSpan(
  streamManager: LogReader,
  span: TurnSpan,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[], void, undefined> {
  if (span.until.kind === 'stored') {
    yield* readStored(streamManager, span.sessionId, span.from, span.until.upTo);
    return;
  }
  for await (const entries of streamManager.follow(span.sessionId, span.from, signal)) {
    yield entries;
    if (entries.some((entry) => isLast(span, entry))) return;
  }
  if (!signal.aborted) throw new StreamBrokenError('the log broke off');
}

async function* readStored(
  streamManager: LogReader,
  sessionId: string,
  from: number,
  upTo: number,
): AsyncGenerator<LogEntry[], void, undefined> {
  let cursor = from;
  while (cursor < upTo) {
    const page = await streamManager.read(sessionId, cursor, LIMITS.replayPage);
    const last = page.at(-1);
    if (last === undefined) return;
    cursor = last.sequence;
    yield page.filter((entry) => entry.sequence <= upTo);
  }
}

/** A pause or an end, never a status field, is where a live reader stops. */
function isLast(span: TurnSpan, { sequence, message }: LogEntry): boolean {
  if (span.until.kind === 'stored') return false;
  if (sequence <= span.until.after) return false;
  if (message.type === 'stream_end') return true;
  return message.type === 'run_paused' && message.agentId === span.sessionId;
}

function isAnswered(span: TurnSpan, toolCallId: string, position: number): boolean {
  if (span.waiting === undefined || position > span.waiting.asOf) return false;
  return !span.waiting.calls.has(toolCallId);
}
