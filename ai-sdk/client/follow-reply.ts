import type { UIStreamPart } from '../parts/ui-stream-part.js';
import type { CommonStreamPart } from './chat-transport.js';
import { receive, toStream, type Receiver, type SseEvent } from './connections.js';
import { ReplyBrokenError } from './errors.js';
import type { Patience } from './patience.js';

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
  return toStream(
    (signal) => receive(new ReceivedReply(source, signal), patience, signal),
    abortSignal,
  );
}

/** Data of the event that ends a body; it is no part. */
const DONE = '[DONE]';

/**
 * The parts of one reply that a chat has received, over any number of connections. Parts of one
 * chunk are delivered together, once the last one arrives with the id, so that the chat never holds
 * half a chunk and the parts after the id continue its copy.
 */
class ReceivedReply implements Receiver<CommonStreamPart> {
  readonly #source: ReplySource;
  readonly #signal: AbortSignal;
  #hasOpened = false;
  #messageId: string | undefined;
  /** Sequence up to which everything was delivered; undefined if no id has arrived. */
  #position: number | undefined;
  #hasParts = false;
  #isInStep = false;
  readonly #openBlocks = new Set<string>();
  isOver = false;
  isBroken = false;

  #held: CommonStreamPart[] = [];
  /** True until a continuation brings its first id. */
  #isJoining = false;

  constructor(source: ReplySource, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
  }

  open(): Promise<Response | null> {
    const { response, resume, repeat } = this.#source;
    if (this.#position !== undefined) return resume(this.#position, this.#signal);
    if (this.#hasOpened && repeat !== undefined) return repeat(this.#signal);
    this.#hasOpened = true;
    return Promise.resolve(response);
  }

  /** Drops the connection's incomplete chunk. @throws ReplyBrokenError if it was the last one */
  onBreak(cause: unknown): void {
    const isUnbegun = !this.#hasParts && this.#source.repeat !== undefined;
    if (this.#position === undefined && !isUnbegun) throw new ReplyBrokenError('withdrawn', cause);
    this.#held = [];
    this.isBroken = false;
    this.#isJoining = this.#position !== undefined;
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
        this.isOver = true;
        break;
      }
      const part = JSON.parse(data) as CommonStreamPart;
      // With an id the part belongs to the reply; without one it is about the connection.
      if (part.type === 'data-stream-resync' && id === undefined) {
        this.isBroken = true;
        break;
      }
      this.#held.push(part);
      const sequence = toSequence(id);
      if (sequence !== undefined) this.#reach(sequence);
      // A reply whose chunks are gone has no ids to wait for.
      const isFree = this.#position === undefined;
      const isLast = part.type === 'finish' || part.type === 'error';
      if (sequence !== undefined || isFree || isLast) this.#release(parts);
      if (part.type === 'finish') this.isOver = true;
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
  #isNews(part: UIStreamPart): boolean {
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
      case 'reset-step':
        this.#openBlocks.clear();
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
