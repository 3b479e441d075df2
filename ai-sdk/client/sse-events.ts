import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { withTimeout } from '../../protocol/time.js';

export interface SseEvent {
  /** Absent for events that are no place to resume after. */
  id?: string | undefined;
  data: string;
}

/**
 * The events of a response, in what arrived together: none in a comment, which shows that the connection lives.
 *
 * @throws TypeError when the connection breaks, or is silent for too long
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
