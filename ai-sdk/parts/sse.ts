import { withoutPrototypeKeys } from '../../protocol/limits.js';
import { SlowReaderError, StreamBrokenError } from './errors.js';
import { toStaticEvent, type ToolParts } from './static-parts.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** Name and value of the header that declares the UI message stream. */
export const AI_SDK_UI_HEADER = 'x-vercel-ai-ui-message-stream';
export const AI_SDK_UI_HEADER_VALUE = 'v1';

/** Headers of the AI SDK's UI message stream. */
export const UI_MESSAGE_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  [AI_SDK_UI_HEADER]: AI_SDK_UI_HEADER_VALUE,
  'x-accel-buffering': 'no',
} as const;

/** Headers of replies; without them `compression()` and Next buffer events. */
export const UNCOMPRESSED = { 'cache-control': 'no-cache, no-transform' } as const;

/** An SSE comment that keeps idle connections open; clients skip it. */
export const SSE_KEEP_ALIVE = ': keep-alive\n\n';

/** The frame after the last event. */
export const SSE_DONE = 'data: [DONE]\n\n';

/**
 * Returns the headers of an SSE reply; `extra` wins.
 *
 * @example
 * import { createSSEHeaders, createSSEStream } from 'helix-temporal/ai-sdk';
 *
 * async function* parts() {
 *   yield { type: 'start' as const, messageId: 'msg-1' };
 *   yield { type: 'finish' as const, finishReason: 'stop' as const };
 * }
 *
 * export const GET = () =>
 *   new Response(createSSEStream(parts()), { headers: createSSEHeaders({ 'x-request-id': 'r1' }) });
 */
export function createSSEHeaders(extra: Record<string, string> = {}): Record<string, string> {
  return { ...UI_MESSAGE_STREAM_HEADERS, ...extra };
}

/** Formats one event as an SSE frame; a reader resumes after its id, `sequence`. */
export function formatSse(part: UIStreamPart, sequence?: number, toolParts?: ToolParts): string {
  const event = toolParts === 'static' ? toStaticEvent(part) : part;
  // A client that refuses one event breaks off the reply, and each replay of it.
  const data = withoutPrototypeKeys(JSON.stringify(event));
  return sequence === undefined
    ? `data: ${data}\n\n`
    : `id: ${String(sequence)}\ndata: ${data}\n\n`;
}

/**
 * Formats a chunk's events. Only the last has the id, so a reader cut in between gets all again.
 */
export function toFrames(
  events: readonly UIStreamPart[],
  { sequence, toolParts }: { sequence?: number | undefined; toolParts?: ToolParts | undefined },
): string {
  let text = '';
  for (const [index, event] of events.entries()) {
    text += formatSse(event, index === events.length - 1 ? sequence : undefined, toolParts);
  }
  return text;
}

/** An event of the stream, with the sequence after which a reader resumes, if it has one. */
export type SSEEvent = UIStreamPart | { event: UIStreamPart; sequence?: number | undefined };

export interface SSEStreamOptions {
  onCancel?: (() => void) | undefined;
  /** Interval of keep-alive comments, ms; default 5,000. */
  keepAliveMs?: number | undefined;
}

export interface SSEResponseOptions extends SSEStreamOptions {
  headers?: Record<string, string>;
  status?: number;
}

/**
 * Encodes events as the bytes of an SSE body that ends with `[DONE]`. Events are pulled one by one,
 * at the reader's pace. If the source throws, the body errors, so that no reader mistakes a broken
 * stream for a finished one.
 *
 * @example
 * import { createSSEStream } from 'helix-temporal/ai-sdk';
 *
 * async function* parts() {
 *   yield { event: { type: 'start' as const, messageId: 'msg-1' }, sequence: 1 };
 *   yield { event: { type: 'finish' as const, finishReason: 'stop' as const }, sequence: 2 };
 * }
 *
 * const body = createSSEStream(parts(), { keepAliveMs: 5_000 });
 */
export function createSSEStream(
  events: AsyncIterable<SSEEvent>,
  options: SSEStreamOptions = {},
): ReadableStream<Uint8Array> {
  return streamTexts(toTexts(events), options);
}

/** Returns `createSSEStream` as a web response. */
export function buildSSEResponse(
  events: AsyncIterable<SSEEvent>,
  { headers, status = 200, ...options }: SSEResponseOptions = {},
): Response {
  return new Response(createSSEStream(events, options), {
    status,
    headers: createSSEHeaders(headers),
  });
}

/** Returns SSE text as a web response. `frames` gets a signal that fires when the reader leaves. */
export function buildFramesResponse(
  frames: (signal: AbortSignal) => AsyncIterable<string>,
  options: { headers?: Record<string, string>; signal?: AbortSignal | undefined } = {},
): Response {
  const reader = new AbortController();
  const leave = (): void => {
    reader.abort();
  };
  options.signal?.addEventListener('abort', leave, { once: true });
  if (options.signal?.aborted === true) leave();
  const body = streamTexts(toTheEnd(frames(reader.signal)), { onCancel: leave });
  return new Response(body, { headers: createSSEHeaders({ ...UNCOMPRESSED, ...options.headers }) });
}

async function* toTheEnd(frames: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* frames;
  } catch (error) {
    const last = toLastFrames(error);
    if (last === undefined) throw error;
    yield last;
  }
}

/**
 * Returns a broken response's last frames. Undefined means that the connection must be cut, or its
 * reader would not notice that something is missing.
 */
export function toLastFrames(error: unknown): string | undefined {
  if (!(error instanceof StreamBrokenError) || error instanceof SlowReaderError) return undefined;
  return error.parts.map((part) => formatSse(part)).join('');
}

/** Interval of keep-alive comments, ms. A client that misses two counts the connection as lost. */
export const KEEP_ALIVE_MS = 5_000;

async function* toTexts(events: AsyncIterable<SSEEvent>): AsyncGenerator<string> {
  for await (const item of events) {
    yield 'event' in item ? formatSse(item.event, item.sequence) : formatSse(item);
  }
  yield SSE_DONE;
}

function streamTexts(
  texts: AsyncIterable<string>,
  { onCancel, keepAliveMs = KEEP_ALIVE_MS }: SSEStreamOptions,
): ReadableStream<Uint8Array> {
  const iterator = texts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let keepAlive: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      keepAlive = setInterval(() => {
        controller.enqueue(encoder.encode(SSE_KEEP_ALIVE));
      }, keepAliveMs);
      try {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(next.value));
      } finally {
        clearInterval(keepAlive);
      }
    },
    async cancel() {
      clearInterval(keepAlive);
      onCancel?.();
      await iterator.return?.();
    },
  });
}
