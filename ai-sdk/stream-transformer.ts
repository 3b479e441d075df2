import type {
  FinishReason,
  LogEntry,
  StreamChunk,
  StreamEnd,
  StreamMessage,
} from '../protocol/chunk.js';
import type { ChunkOf } from '../protocol/chunk.js';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';
import { ContentBlocks } from './content-blocks.js';
import { toControlPart, toEventPart, toSourcePart, toWarningPart } from './content-parts.js';
import { StepFrame } from './step-frame.js';
import { isCallOpening, isToolChunk, ToolCalls } from './tool-calls.js';
import type { ToolChunk } from './tool-calls.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

export interface StreamTransformerOptions {
  /** Makes the id of the assistant message. */
  generateMessageId?: (agentId: string) => string;
  /** Bare `start-step` and `finish-step` around each step; stock clients loop without them. */
  includeStepEvents?: boolean;
  /** False for chunks to leave out. */
  chunkFilter?: (chunk: StreamChunk) => boolean;
  logger?: { warn: (message: string) => void };
  profile?: StreamProfile;
  /** The agent that speaks; the first chunk's when absent. */
  agentId?: string;
  /** True if the client has the message up to here: this stream only adds to it. */
  isTail?: boolean;
  /** True for approval requests that were answered before the reader came. */
  isAnswered?: (toolCallId: string) => boolean;
}

/** What one chunk means to a client. */
export interface Transformed {
  events: UIStreamPart[];
  /** Position of the chunk in the log; absent for chunks without one. */
  sequence?: number;
  /** The client holds parts that were withdrawn, and cannot be told: its connection must be cut. */
  mustCut?: true;
}

type Ending = 'paused' | NonNullable<StreamEnd['status']>;

/** Turns the chunks of one turn into parts of the AI SDK's UI message stream. */
export class StreamTransformer {
  readonly #options: StreamTransformerOptions;
  readonly #blocks = new ContentBlocks();
  readonly #calls: ToolCalls;
  readonly #step: StepFrame;
  /** Calls of the tool that ends a run with structured output: no client sees them. */
  readonly #finishCalls = new Set<string>();
  #agentId: string | undefined;
  #isStarted = false;
  #finishReason: FinishReason | undefined;
  #failure: string | undefined;
  #ending: Ending | undefined;

  constructor(options: StreamTransformerOptions = {}) {
    const { profile = 'common', isTail = false, isAnswered = () => false } = options;
    this.#options = options;
    this.#agentId = options.agentId;
    this.#calls = new ToolCalls({ profile, isAnswered, isTail });
    this.#step = new StepFrame(this.#blocks, {
      isShown: options.includeStepEvents ?? true,
      isTail,
    });
  }

  /** The first event of every response; `transform` gives it by itself when nobody asked before. */
  start(): UIStreamPart[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const agentId = this.#agentId ?? '';
    return [
      { type: 'start', messageId: this.#options.generateMessageId?.(agentId) ?? `msg-${agentId}` },
    ];
  }

  /** Takes the next chunk, with or without its place in the log. Unknown types give no event. */
  transform(item: LogEntry | StreamMessage): Transformed {
    const message = 'message' in item ? item.message : item;
    const result: Transformed = { events: [] };
    if ('message' in item) result.sequence = item.sequence;
    if (message.type === 'stream_end') {
      this.#ending = message.status ?? 'completed';
      return result;
    }
    this.#agentId ??= message.agentId;
    if (message.agentId !== this.#agentId) return result;
    if (this.#options.chunkFilter?.(message) === false) return result;
    result.events = this.start();
    if (message.type === 'step_discarded') this.#discard(message, result);
    else if (isToolChunk(message)) this.#addTool(message, result.events);
    else this.#add(message, result.events);
    return result;
  }

  /** Closes what is open and says how the response ends. */
  finalize(): { events: UIStreamPart[] } {
    const events = this.start();
    const failedBlank = this.#failure !== undefined && this.#step.isBefore;
    this.#step.end(events, { guard: this.#ending !== 'paused' && !failedBlank });
    if (this.#failure !== undefined) events.push({ type: 'error', errorText: this.#failure });
    events.push({ type: 'finish', finishReason: this.#toFinishReason() });
    return { events };
  }

  /** For a reader that joins here and was given nothing before: the open step, blocks and calls. */
  reopen(): UIStreamPart[] {
    const events: UIStreamPart[] = [];
    this.#step.reopen(events);
    this.#blocks.reopen(events);
    this.#calls.reopen(events);
    return events;
  }

  #add(chunk: StreamChunk, out: UIStreamPart[]): void {
    switch (chunk.type) {
      case 'text_delta':
        if (chunk.delta === '') return;
        this.#step.enter(chunk.step, out);
        this.#step.noteContent('content');
        return this.#blocks.writeText(chunk.delta, out);
      case 'thinking':
        if (chunk.content !== '') {
          this.#step.enter(chunk.step, out);
          this.#step.noteContent('content');
        }
        return this.#blocks.writeReasoning(chunk.content, chunk.isComplete, out);
      case 'source_url':
      case 'source_document':
      case 'file':
        this.#step.enter(chunk.step, out);
        this.#step.noteContent('content');
        out.push(toSourcePart(chunk));
        return;
      case 'custom':
        out.push(toEventPart(chunk));
        return;
      case 'output':
        out.push({ type: 'data-output', data: chunk.output ?? null });
        return;
      default:
        return this.#addControl(chunk, out);
    }
  }

  #addControl(chunk: StreamChunk, out: UIStreamPart[]): void {
    switch (chunk.type) {
      case 'step_start':
        this.#forgetEnding();
        return this.#step.enter(chunk.step, out);
      case 'step_end':
        this.#finishReason = chunk.finishReason;
        return this.#step.commit(chunk.step, out);
      case 'error':
        if (chunk.recoverable) out.push(toWarningPart(chunk));
        else this.#failure = chunk.error;
        return;
      case 'run_paused':
        this.#ending = 'paused';
        break;
      case 'run_resumed':
        this.#forgetEnding();
        break;
      default:
    }
    const part = toControlPart(chunk);
    if (part !== undefined) out.push(part);
  }

  #addTool(chunk: ToolChunk, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    if ('toolName' in chunk && chunk.toolName === FINISH_TOOL_NAME)
      this.#finishCalls.add(toolCallId);
    if (this.#finishCalls.has(toolCallId)) return;
    if (isCallOpening(chunk)) {
      this.#step.enter(chunk.step, out);
      this.#step.noteContent('calls');
      this.#blocks.close(out);
    }
    this.#calls.add(chunk, out);
  }

  #discard(chunk: ChunkOf<'step_discarded'>, result: Transformed): void {
    if (this.#step.isUncommitted(chunk.step)) {
      if (this.#options.profile !== 'v7') {
        result.mustCut = true;
        return;
      }
      result.events.push({ type: 'reset-step' });
    }
    this.#step.discard(chunk.step);
    this.#calls.discardStreaming();
    const part = toControlPart(chunk);
    if (part !== undefined) result.events.push(part);
  }

  /** The run goes on: what looked like the end was not. */
  #forgetEnding(): void {
    this.#ending = undefined;
    this.#failure = undefined;
  }

  #toFinishReason(): FinishReason {
    if (this.#failure !== undefined || this.#ending === 'failed') return 'error';
    if (this.#ending === 'paused') return 'tool-calls';
    if (this.#ending === 'interrupted' || this.#ending === 'aborted') return 'other';
    return this.#finishReason ?? 'stop';
  }
}
