import type { AgentStatus, StreamEvent } from '../../protocol/agent-server.js';
import type { StreamMessage } from '../../protocol/chunk.js';
import { StreamTransformer } from '../parts/stream-transformer.js';
import type { CommonStreamPart } from './chat-transport.js';
import type { Receiver, SseEvent } from './connections.js';
import { ChatRequestError, ReplyBrokenError } from './errors.js';

/** The part of a turn that a chat receives, and the session's status. */
export interface AgentTurnSpan {
  status: AgentStatus;
  /** Sequence before the first event. */
  from: number;
  /** True if the chat has the message up to there. */
  isTail: boolean;
  /** True if the parts are dropped, since the caller only waits until the run rests. */
  isUnread?: boolean;
}

/** Converts the events of one turn, over any number of connections, into one message's parts. */
export class AgentTurn implements Receiver<CommonStreamPart> {
  readonly #transformer: StreamTransformer;
  readonly #sessionId: string;
  /** Sequence up to which pauses are history. */
  readonly #restsAfter: number;
  readonly #request: (after: number) => Promise<Response>;
  /** Sequence up to which everything was read. */
  #position: number;
  readonly isUnread: boolean;
  /** True if the turn has ended, or only a person can continue it. */
  isOver = false;
  #hasEvents = false;

  /** @param request requests the events after a sequence */
  constructor(
    { status, from, isTail, isUnread = false }: AgentTurnSpan,
    request: (after: number) => Promise<Response>,
  ) {
    const { sessionId, messageId, stream, latestSequence, pauseSequence, pending } = status;
    const waiting = new Set(pending.map(({ toolCallId }) => toolCallId));
    this.#request = request;
    this.#sessionId = sessionId;
    this.#position = from;
    this.isUnread = isUnread;
    this.#restsAfter = stream === 'paused' ? pauseSequence - 1 : latestSequence;
    this.#transformer = new StreamTransformer({
      agentId: sessionId,
      generateMessageId: () => messageId,
      isTail,
      isAnswered: (toolCallId) => this.#position <= latestSequence && !waiting.has(toolCallId),
    });
  }

  /** @throws ReplyBrokenError if the log has lost entries that this page had read */
  async open(): Promise<Response> {
    try {
      return await this.#request(this.#position);
    } catch (error) {
      const isRewound = error instanceof ChatRequestError && error.code === 'rewound';
      throw isRewound ? new ReplyBrokenError('withdrawn', error) : error;
    }
  }

  start(): CommonStreamPart[] {
    return toCommon(this.#transformer.start());
  }

  /** @throws ReplyBrokenError `withdrawn` if the chat holds parts that the server has withdrawn */
  take(events: readonly SseEvent[]): CommonStreamPart[] {
    const parts: CommonStreamPart[] = [];
    for (const { id, data } of events) {
      const event = JSON.parse(data) as StreamEvent;
      const sequence = id === undefined ? undefined : Number(id);
      const isNext = this.#hasEvents && this.#beginsTurn(event);
      const message = this.isUnread ? undefined : this.#toMessage(event);
      if (message !== undefined) parts.push(...this.#convert(message));
      if (sequence !== undefined) this.#position = sequence;
      if (isNext || this.#rests(event, sequence)) {
        this.isOver = true;
        parts.push(...toCommon(this.#transformer.finalize().events));
        return parts;
      }
    }
    return parts;
  }

  #convert(message: StreamMessage): CommonStreamPart[] {
    this.#hasEvents = true;
    // A wire event does not name its writer, so a tool's output is known by its call alone.
    const { events, mustCut } = this.#transformer.transform(message);
    if (mustCut) throw new ReplyBrokenError('withdrawn');
    return toCommon(events);
  }

  /** Returns true for the beginning of another message of the same run; sub-agents share the stream. */
  #beginsTurn(event: StreamEvent): boolean {
    if (event.type !== 'chunk') return false;
    return event.chunk.type === 'turn_started' && event.chunk.agentId === this.#sessionId;
  }

  #rests(event: StreamEvent, sequence = 0): boolean {
    if (event.type === 'end' || event.type === 'fail') return true;
    return event.type === 'status' && event.status === 'paused' && sequence > this.#restsAfter;
  }

  #toMessage(event: StreamEvent): StreamMessage | undefined {
    const common = { streamId: this.#sessionId, timestamp: 0 };
    switch (event.type) {
      case 'chunk':
        return event.chunk;
      case 'end':
        return { type: 'stream_end', ...common };
      case 'fail':
        // The error stands in the stream, unless its entry has expired.
        return { type: 'stream_end', ...common, status: 'aborted' };
      case 'truncated': {
        const { truncatedAtStep, atSequence = 0 } = event;
        const marks = { truncatedAtStep, atSequence, lastRemoved: atSequence };
        return { type: 'stream_truncated', ...common, ...marks };
      }
      case 'status':
        return undefined;
    }
  }
}

/** Narrows the parts: the transformer's profile is the common one, so no others occur. */
function toCommon(parts: ReturnType<StreamTransformer['start']>): CommonStreamPart[] {
  return parts as CommonStreamPart[];
}
