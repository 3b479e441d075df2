import type { CommonStreamPart } from './chat-transport.js';
import { isNetworkError } from './is-network-error.js';
import { persist, Retries, type Patience } from './patience.js';
import { ReceivedReply } from './received-reply.js';
import { ReplyBrokenError } from './reply-broken-error.js';
import { readSseEvents } from './sse-events.js';
import { toStream } from './to-stream.js';

/** Where the connections of a reply come from. */
export interface ReplySource {
  /** The first one. */
  response: Response;
  /** What follows a position; null if the server does not have it any more. */
  resume: (position: number, signal: AbortSignal) => Promise<Response | null>;
  /** The same request again; absent if it must not be repeated. */
  repeat?: ((signal: AbortSignal) => Promise<Response | null>) | undefined;
}

/**
 * A reply as one stream of parts, over as many connections as it takes. It errors with a ReplyBrokenError when it
 * cannot be completed, and with the ChatRequestError if the server refuses to continue.
 */
export function followReply(
  source: ReplySource,
  patience: Patience,
  abortSignal: AbortSignal | undefined,
): ReadableStream<CommonStreamPart> {
  const leave = new AbortController();
  const signal = abortSignal ? AbortSignal.any([abortSignal, leave.signal]) : leave.signal;
  return toStream(readReply(source, patience, signal), leave);
}

async function* readReply(
  source: ReplySource,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<CommonStreamPart[], void, undefined> {
  const reply = new ReceivedReply();
  const retries = new Retries(patience);
  let { response } = source;
  for (;;) {
    let cause: unknown = new TypeError('network error: the reply ended before its end');
    try {
      for await (const parts of readParts(response, reply, patience, signal)) {
        retries.reset();
        yield parts;
      }
      if (reply.isOver) return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isNetworkError(error)) throw error;
      cause = error;
    }
    signal.throwIfAborted();
    response = await reopen(source, reply, retries, signal, cause);
    reply.reconnect();
  }
}

async function* readParts(
  { body }: Response,
  reply: ReceivedReply,
  { longestSilenceMs }: Patience,
  signal: AbortSignal,
): AsyncGenerator<CommonStreamPart[], void, undefined> {
  if (body === null) return;
  for await (const events of readSseEvents(body, longestSilenceMs)) {
    if (signal.aborted) return;
    yield reply.take(events);
    if (reply.isOver || reply.isBroken) return;
  }
}

/** The next connection. @throws ReplyBrokenError, ChatRequestError */
async function reopen(
  { resume, repeat }: ReplySource,
  { position, isUnbegun }: ReceivedReply,
  retries: Retries,
  signal: AbortSignal,
  cause: unknown,
): Promise<Response> {
  const ask =
    position === undefined ? repeat : (): Promise<Response | null> => resume(position, signal);
  if (ask === undefined || (position === undefined && !isUnbegun)) {
    throw new ReplyBrokenError('withdrawn', cause);
  }
  let response: Response | null;
  try {
    await retries.next(cause, signal);
    response = await persist(() => ask(signal), retries, signal, true);
  } catch (error) {
    signal.throwIfAborted();
    throw isNetworkError(error) ? new ReplyBrokenError('unreachable', error) : error;
  }
  if (response === null) throw new ReplyBrokenError('withdrawn', cause);
  return response;
}
