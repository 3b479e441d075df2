import type { AgentStatus } from '../../protocol/agent-server.js';
import type { StreamMessage } from '../../protocol/chunk.js';
import type { StreamEvent } from '../../protocol/wire-events.js';
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
  /** True if the turn has ended, or only a person can continue it. */
  isOver = false;
  #hasEvents = false;
  /** Outcome of the turn so far; wire events do not contain it. */
  #ending: 'completed' | 'interrupted' | 'failed' = 'completed';

  /** @param request requests the events after a sequence */
  constructor(
    { status, from, isTail }: AgentTurnSpan,
    request: (after: number) => Promise<Response>,
  ) {
    const { sessionId, messageId, stream, latestSequence, pauseSequence, pending } = status;
    const waiting = new Set(pending.map(({ toolCallId }) => toolCallId));
    this.#request = request;
    this.#sessionId = sessionId;
    this.#position = from;
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
      this.#add(event, sequence, parts);
      if (sequence !== undefined) this.#position = sequence;
      if (isNext || this.#rests(event, sequence)) {
        this.#finish(parts);
        return parts;
      }
    }
    return parts;
  }

  #add(event: StreamEvent, sequence: number | undefined, out: CommonStreamPart[]): void {
    const message = this.#toMessage(event);
    if (message === undefined) return;
    this.#hasEvents = true;
    if (isAbout(message, this.#sessionId)) this.#noteEnding(message);
    const at = event.type === 'chunk' ? event.sequence : sequence;
    // Wire events do not name the writer, so output of tools is distinguished by its call alone.
    const writer = '';
    const output =
      at === undefined
        ? this.#transformer.transform(message)
        : this.#transformer.transform({ sequence: at, writer, message });
    if (output.mustCut) throw new ReplyBrokenError('withdrawn');
    out.push(...toCommon(output.events));
  }

  /** Returns true for the beginning of another message of the same run. */
  #beginsTurn(event: StreamEvent): boolean {
    if (event.type !== 'chunk') return false;
    return event.chunk.type === 'turn_started' && isAbout(event.chunk, this.#sessionId);
  }

  #noteEnding(message: StreamMessage): void {
    if (message.type === 'step_start' || message.type === 'run_resumed') this.#ending = 'completed';
    else if (message.type === 'run_interrupted') this.#ending = 'interrupted';
    else if (message.type === 'error' && !message.recoverable) this.#ending = 'failed';
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
        return { type: 'stream_end', ...common, status: this.#ending };
      case 'fail': {
        // An abort leaves no error in the stream.
        const status = this.#ending === 'failed' ? 'failed' : 'aborted';
        return { type: 'stream_end', ...common, status, error: event.error };
      }
      case 'truncated': {
        const { truncatedAtStep, atSequence = 0 } = event;
        const marks = { truncatedAtStep, atSequence, lastRemoved: atSequence };
        return { type: 'stream_truncated', ...common, ...marks };
      }
      case 'status':
        return undefined;
    }
  }

  #finish(out: CommonStreamPart[]): void {
    this.isOver = true;
    out.push(...toCommon(this.#transformer.finalize().events));
  }
}

/** Returns true for an agent's own messages; sub-agents share the stream. */
function isAbout(message: StreamMessage, agentId: string): boolean {
  return 'agentId' in message && message.agentId === agentId;
}

/** Narrows the parts: the transformer's profile is the common one, so no others occur. */
function toCommon(parts: ReturnType<StreamTransformer['start']>): CommonStreamPart[] {
  return parts as CommonStreamPart[];
}
