import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { withTimeout } from '../../protocol/time.js';
import { isNetworkError, ReplyBrokenError } from './errors.js';
import { mayPass, persist, Retries, type Patience } from './patience.js';

export interface SseEvent {
  /** Absent if a reader cannot resume after the event. */
  id?: string | undefined;
  data: string;
}

/** Takes in the events of a reply, over any number of connections. */
export interface Receiver<T> {
  /** Opens a connection for the rest of the reply; returns null if the server has none. */
  open: () => Promise<Response | null>;
  /** Returns what to deliver of events that arrived together; none arrived with a comment. */
  take: (events: readonly SseEvent[]) => T[];
  /** True if nothing is delivered, so that each event is progress. */
  readonly isUnread?: boolean;
  /** True if the reply has ended properly. */
  readonly isOver?: boolean;
  /** True if the server has broken off this connection before the reply is over. */
  readonly isBroken?: boolean;
  /** Called when a connection breaks; throws if no other one can continue it. */
  onBreak?: (cause: unknown) => void;
}

/**
 * Yields what a receiver delivers until the reply is over.
 *
 * @param hasWorked false if the first connection may fail for good
 * @throws refusals; the connection's error when retries are exhausted; errors of the receiver
 */
export async function* receive<T>(
  receiver: Receiver<T>,
  patience: Patience,
  signal: AbortSignal,
  hasWorked = true,
): AsyncGenerator<T[], void, undefined> {
  const retries = new Retries(patience);
  let hasEvents = hasWorked;
  let cause: unknown;
  for (;;) {
    try {
      const response = await persist(() => receiver.open(), retries, signal, hasEvents);
      if (response === null) throw new ReplyBrokenError('withdrawn', cause);
      cause = new TypeError('network error: the stream ended before its end');
      for await (const events of readSseEvents(response, patience.longestSilenceMs)) {
        signal.throwIfAborted();
        const taken = receiver.take(events);
        // A connection that only begins the reply again is no progress.
        if (taken.length > 0 || events.length === 0 || receiver.isUnread) retries.reset();
        hasEvents ||= events.length > 0;
        yield taken;
        if (receiver.isOver) return;
        if (receiver.isBroken) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isNetworkError(error)) throw error;
      cause = error;
    }
    signal.throwIfAborted();
    receiver.onBreak?.(cause);
    await retries.next(cause, signal);
  }
}

/**
 * Yields the events that arrived together; the array is empty for a comment, which shows that the
 * connection lives.
 *
 * @throws TypeError if the connection breaks, or is silent for too long
 */
async function* readSseEvents(
  { body }: Response,
  longestSilenceMs: number,
): AsyncGenerator<SseEvent[], void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** Undefined for a comment. */
  let arrived: (SseEvent | undefined)[] = [];
  const parser = createParser({
    onEvent: ({ id, data }: EventSourceMessage) => arrived.push({ id, data }),
    onComment: () => arrived.push(undefined),
  });
  try {
    for (;;) {
      const { done, value } = await withTimeout(longestSilenceMs, reader.read(), { late });
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      // A read may end in the middle of an event.
      if (arrived.length > 0) yield arrived.flatMap((event) => event ?? []);
      arrived = [];
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
 * Converts a generator's parts to a stream; cancelling it fires the generator's signal. The failure of
 * a server that stayed away becomes a ReplyBrokenError, which chats do not take for a dropped request.
 */
export function toStream<T>(
  read: (signal: AbortSignal) => AsyncGenerator<T[], void, undefined>,
  abortSignal?: AbortSignal,
): ReadableStream<T> {
  const leave = new AbortController();
  const signal = abortSignal ? AbortSignal.any([abortSignal, leave.signal]) : leave.signal;
  const parts = read(signal);
  return new ReadableStream<T>({
    async pull(controller) {
      // A pull that enqueues nothing is not repeated while the reader waits.
      for (;;) {
        const next = await parts.next().catch((error: unknown) => {
          const isExhausted = !signal.aborted && mayPass(error, true);
          throw isExhausted ? new ReplyBrokenError('unreachable', error) : error;
        });
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
