import type { CommonStreamPart } from './chat-transport.js';
import { isNetworkError, ReplyBrokenError } from './errors.js';
import { persist, Retries, type Patience } from './patience.js';
import { readSseEvents, toStream, type SseEvent } from './sse-events.js';

/** Source of the connections of a reply. */
export interface ReplySource {
  /** The first connection. */
  response: Response;
  /** Requests the parts after a position; null if the server no longer has them. */
  resume: (position: number, signal: AbortSignal) => Promise<Response | null>;
  /** Repeats the first request; absent if it must not be repeated. */
  repeat?: ((signal: AbortSignal) => Promise<Response | null>) | undefined;
}

/**
 * Streams a reply over any number of connections. The stream errors with a ReplyBrokenError if the
 * reply cannot be completed, and with the ChatRequestError if the server refuses to continue.
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

/** Opens the next connection. @throws ReplyBrokenError, ChatRequestError */
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

/** Data of the event that ends a body; it is no part. */
const DONE = '[DONE]';

/**
 * The parts of one reply that a chat has received, over any number of connections. Parts of one
 * chunk are delivered together, once the last one arrives with the id, so that the chat never holds
 * half a chunk and the parts after the id continue its copy.
 */
class ReceivedReply {
  #messageId: string | undefined;
  #position: number | undefined;
  #hasParts = false;
  #isInStep = false;
  readonly #openBlocks = new Set<string>();
  #isOver = false;
  #isBroken = false;

  #held: CommonStreamPart[] = [];
  #isContinuation = false;
  /** True until a continuation brings its first id. */
  #isJoining = false;

  /** Sequence up to which everything was delivered; undefined if no id has arrived. */
  get position(): number | undefined {
    return this.#position;
  }

  /** True if the reply has ended properly. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True if the server has broken off this connection before the reply is over. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** True if repeating the request would double no part. */
  get isUnbegun(): boolean {
    return this.#position === undefined && !this.#hasParts;
  }

  /** Begins another connection, and drops the incomplete chunk of the last one. */
  reconnect(): void {
    this.#held = [];
    this.#isBroken = false;
    this.#isContinuation = this.#position !== undefined;
    this.#isJoining = this.#isContinuation;
  }

  /**
   * Reads arrived events and returns the parts to deliver.
   *
   * @throws ReplyBrokenError `withdrawn` if a continuation does not continue the delivered parts
   */
  take(events: readonly SseEvent[]): CommonStreamPart[] {
    const parts: CommonStreamPart[] = [];
    for (const { id, data } of events) {
      if (data === DONE) {
        this.#release(parts);
        this.#isOver = true;
        break;
      }
      const part = JSON.parse(data) as CommonStreamPart;
      // With an id the part belongs to the reply; without one it is about the connection.
      if (part.type === 'data-stream-resync' && id === undefined) {
        this.#isBroken = true;
        break;
      }
      this.#held.push(part);
      const sequence = toSequence(id);
      if (sequence !== undefined) this.#reach(sequence);
      // A reply whose chunks are gone has no ids to wait for.
      const isFree = this.#position === undefined;
      const isLast = part.type === 'finish' || part.type === 'error';
      if (sequence !== undefined || isFree || isLast) this.#release(parts);
      if (part.type === 'finish') this.#isOver = true;
    }
    return parts;
  }

  #reach(sequence: number): void {
    if (this.#isJoining && sequence <= (this.#position ?? 0))
      throw new ReplyBrokenError('withdrawn');
    this.#isJoining = false;
    this.#position = sequence;
  }

  #release(out: CommonStreamPart[]): void {
    for (const part of this.#held) if (this.#isNews(part)) out.push(part);
    this.#held = [];
  }

  /** Returns false for parts with which each connection begins and which this chat already has. */
  #isNews(part: CommonStreamPart): boolean {
    switch (part.type) {
      case 'start': {
        const known = this.#messageId;
        this.#messageId = part.messageId;
        if (known === undefined) return true;
        if (known !== part.messageId) throw new ReplyBrokenError('withdrawn');
        return false;
      }
      case 'start-step':
        if (this.#isInStep) return false;
        this.#isInStep = true;
        this.#openBlocks.clear();
        break;
      case 'finish-step':
        this.#isInStep = false;
        break;
      case 'text-start':
      case 'reasoning-start':
        if (this.#openBlocks.has(part.id)) return false;
        this.#openBlocks.add(part.id);
        break;
      case 'text-end':
      case 'reasoning-end':
        this.#openBlocks.delete(part.id);
        break;
      default:
    }
    this.#hasParts = true;
    return true;
  }
}

function toSequence(id: string | undefined): number | undefined {
  if (id === undefined || !/^\d{1,15}$/.test(id)) return undefined;
  return Number(id);
}
