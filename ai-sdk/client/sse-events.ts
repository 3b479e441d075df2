import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { withTimeout } from '../../protocol/time.js';

export interface SseEvent {
  /** Absent if a reader cannot resume after the event. */
  id?: string | undefined;
  data: string;
}

/**
 * Yields the events that arrived together; the array is empty for a comment, which shows that the
 * connection lives.
 *
 * @throws TypeError if the connection breaks, or is silent for too long
 */
export async function* readSseEvents(
  body: ReadableStream<Uint8Array>,
  longestSilenceMs: number,
): AsyncGenerator<SseEvent[], void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, data }: EventSourceMessage) => events.push({ id, data }),
  });
  try {
    for (;;) {
      const { done, value } = await withTimeout(longestSilenceMs, reader.read(), { late });
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const arrived = events;
      events = [];
      yield arrived;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** A dead connection, behind a sleeping laptop or a proxy, looks like a silent one. */
function late(): Error {
  return new TypeError('network error: the connection fell silent');
}

/**
 * Converts a generator's parts to a stream; cancelling it fires the signal and ends the generator.
 */
export function toStream<T>(
  parts: AsyncGenerator<T[], void, undefined>,
  leave: AbortController,
): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      // A pull that enqueues nothing is not repeated while the reader waits.
      for (;;) {
        const next = await parts.next();
        if (next.done === true) controller.close();
        else for (const part of next.value) controller.enqueue(part);
        if (next.done === true || next.value.length > 0) return;
      }
    },
    async cancel() {
      leave.abort();
      await parts.return();
    },
  });
}
