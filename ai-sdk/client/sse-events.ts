import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface SseEvent {
  /** Absent for events that are no place to resume after. */
  id?: string | undefined;
  data: string;
}

/**
 * The events of a response, in what arrived together.
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
      const { done, value } = await within(longestSilenceMs, reader.read());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (events.length === 0) continue;
      const arrived = events;
      events = [];
      yield arrived;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** A connection that died without a word, behind a sleeping laptop or a proxy, looks like a silent one. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TypeError('network error: the connection fell silent'));
    }, ms);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
