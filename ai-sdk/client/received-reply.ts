import type { CommonStreamPart } from './chat-transport.js';
import { ReplyBrokenError } from './reply-broken-error.js';
import type { SseEvent } from './sse-events.js';

/** Ends a body of events; no part. */
const DONE = '[DONE]';

/**
 * The part of one reply that a chat has received, over any number of connections. Parts of one chunk are delivered
 * together, when the last of them, which carries the id, has come. So a chat never has half a chunk when its
 * connection breaks, and what follows the id follows what the chat has.
 */
export class ReceivedReply {
  #messageId: string | undefined;
  #position: number | undefined;
  #hasParts = false;
  #isInStep = false;
  readonly #openBlocks = new Set<string>();
  #isOver = false;
  #isBroken = false;

  #held: CommonStreamPart[] = [];
  #isContinuation = false;
  /** True until the first id of a continuation. */
  #isJoining = false;

  /** Everything up to this sequence was delivered; undefined if no id has come. */
  get position(): number | undefined {
    return this.#position;
  }

  /** The reply has ended as replies end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The server has said that nothing more comes over this connection, and the reply is not over. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** True if the request may be repeated: nothing would be doubled. */
  get isUnbegun(): boolean {
    return this.#position === undefined && !this.#hasParts;
  }

  /** Begins to read another connection; what the last one left unfinished is dropped. */
  reconnect(): void {
    this.#held = [];
    this.#isBroken = false;
    this.#isContinuation = this.#position !== undefined;
    this.#isJoining = this.#isContinuation;
  }

  /**
   * Reads what has arrived, and returns the parts to deliver.
   *
   * @throws ReplyBrokenError `withdrawn` when a continuation does not continue what was delivered
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
      // With an id it is a part of the reply; without one it is about the connection.
      if (part.type === 'data-stream-resync' && id === undefined) {
        this.#isBroken = true;
        break;
      }
      this.#held.push(part);
      const sequence = toSequence(id);
      if (sequence !== undefined) this.#reach(sequence);
      // Replies whose chunks are gone come without ids: nothing to wait for.
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

  /** False for parts that each connection begins with and this chat has already. */
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
