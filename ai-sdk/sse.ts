import type { UIStreamPart } from './ui-stream-part.js';

/** Headers of the AI SDK's UI message stream. */
export const UI_MESSAGE_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
} as const;

/** The header by which custom backends say that they speak the UI message stream. */
export const AI_SDK_UI_HEADER = 'x-vercel-ai-ui-message-stream';

/** A comment that keeps idle connections open; clients skip it. */
export const SSE_KEEP_ALIVE = ': keep-alive\n\n';

/** The frame after the last event. */
export const SSE_DONE = 'data: [DONE]\n\n';

/** Headers of an SSE reply; `extra` wins. */
export function createSSEHeaders(extra: Record<string, string> = {}): Record<string, string> {
  return { ...UI_MESSAGE_STREAM_HEADERS, ...extra };
}

/** One event as an SSE frame. `sequence` becomes its id: the place to resume after. */
export function formatSse(part: UIStreamPart, sequence?: number): string {
  const data = JSON.stringify(part);
  return sequence === undefined
    ? `data: ${data}\n\n`
    : `id: ${String(sequence)}\ndata: ${data}\n\n`;
}

export interface SSEResponseOptions {
  headers?: Record<string, string>;
  status?: number;
  /** Called when the reader goes away. */
  onCancel?: () => void;
}

/**
 * Frames as a web response. They are pulled one by one, so a slow reader holds them back. If the
 * source throws, the body errors: a reader must never take a broken stream for a finished one.
 */
export function buildSSEResponse(
  frames: AsyncIterable<string>,
  options: SSEResponseOptions = {},
): Response {
  const iterator = frames[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      options.onCancel?.();
      await iterator.return?.();
    },
  });
  return new Response(body, {
    status: options.status ?? 200,
    headers: createSSEHeaders(options.headers),
  });
}
