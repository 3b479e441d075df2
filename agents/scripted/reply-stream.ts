import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/**
 * Parts waiting for a slow reader. Like the buffers of a socket: the model keeps its pace while the
 * reader is busy for a moment, but does not run ahead without bound.
 */
const BUFFERED_PARTS = 256;

/**
 * The stream a model hands out. An abort errors it at once, with parts unread; a reader that
 * cancels ends the model's work.
 *
 * @param parts the model's work, which stops when `stop` aborts
 */
export function toReplyStream(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>,
  stop: AbortController,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start(controller) {
        const fail = (): void => {
          controller.error(stop.signal.reason);
        };
        stop.signal.addEventListener('abort', fail, { once: true });
      },
      async pull(controller) {
        const next = await parts.next();
        if (stop.signal.aborted) return;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel(reason) {
        stop.abort(reason);
      },
    },
    { highWaterMark: BUFFERED_PARTS },
  );
}
