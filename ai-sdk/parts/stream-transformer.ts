import type {
  ChunkOf,
  FinishReason,
  Interruption,
  LogEntry,
  StreamChunk,
  StreamMessage,
  StreamEnd,
} from '../../protocol/chunk.js';
import { ContentBlocks } from '../../protocol/reply-fold.js';
import { ASK_STEP_ID, FINISH_TOOL_NAME, toShownSessionId } from '../../protocol/ids.js';
import type { SubAgentEvent } from '../../protocol/http.js';
import type { StoredChunk } from '../../store/log/stream-manager.js';
import {
  toControlPart,
  toEventPart,
  toFailurePart,
  toInterruptedMetadata,
  toSourcePart,
} from './content-parts.js';
import { isCallOpening, isToolChunk, ToolCalls, type ToolChunk } from './tool-calls.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

/** Converts chunks of sub-agents into transient parts; the message keeps only their results. */
class SubAgentParts {
  /** The conversation's call that each sub-agent's session serves, directly or through others. */
  readonly #callOf: Map<string, string>;

  constructor(known: ReadonlyMap<string, string>) {
    this.#callOf = new Map(known);
  }

  add(chunk: StreamChunk): UIStreamPart[] {
    const callId = this.#callOf.get(chunk.agentId);
    if (chunk.type === 'subagent_start') {
      this.#callOf.set(chunk.subSessionId, callId ?? chunk.callId);
      return [];
    }
    const event = callId === undefined ? undefined : toEvent(chunk, callId);
    return event === undefined
      ? []
      : [{ type: 'data-subagent-progress', data: event, transient: true }];
  }
}

/** The state of the run at the newest chunk: active, paused or over. */
class RunEnding {
  /** `passed_on`: further output of the run belongs to another message. */
  #state: 'paused' | 'passed_on' | StreamEnd['status'];
  #isAsking = false;
  #failure: string | undefined;
  #finishReason: FinishReason | undefined;

  accept(chunk: StreamChunk): void {
    switch (chunk.type) {
      case 'run_paused':
        this.#state = 'paused';
        this.#isAsking = chunk.pendingToolCallId !== undefined;
        break;
      case 'turn_started':
        this.#state = 'passed_on';
        break;
      case 'run_interrupted':
        this.#state = 'interrupted';
        break;
      case 'step_start':
      case 'run_resumed':
        // The run continues after an apparent end.
        this.#state = undefined;
        this.#failure = undefined;
        break;
      case 'step_end':
        this.#finishReason = chunk.finishReason;
        break;
      case 'error':
        if (!chunk.recoverable) this.#failure = chunk.error;
        break;
      default:
    }
  }

  /** The end of a foreign stream has no status. */
  end({ status }: StreamEnd): void {
    const isInterrupted = this.#state === 'interrupted';
    this.#state = status ?? (isInterrupted ? 'interrupted' : 'completed');
  }

  /** True if people are asked; a run that waits only for webhooks takes no answers. */
  get isAsking(): boolean {
    return this.#state === 'paused' && this.#isAsking;
  }

  /** Text of the failure for the user; undefined unless the run failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  toFinishReason(): FinishReason {
    if (this.#failure !== undefined || this.#state === 'failed') return 'error';
    if (this.#state === 'paused') return 'tool-calls';
    if (this.#state === 'interrupted' || this.#state === 'aborted') return 'other';
    // Calls of a message that another message follows do not wait.
    const isPassedOn = this.#state === 'passed_on';
    if (isPassedOn && this.#finishReason === 'tool-calls') return 'other';
    return this.#finishReason ?? 'stop';
  }
}

/** Content of the newest step in the client's message; `before` until this stream has a step. */
type StepContent = 'before' | 'nothing' | 'content' | 'calls';

/** Frames the steps of one turn, and ends the response so that a stock client does not post again. */
class StepFrame {
  readonly #blocks: ContentBlocks;
  readonly #isShown: boolean;
  #content: StepContent;
  #step = 0;
  #isOpen = false;
  /** True if parts were sent that no commit has confirmed. */
  #isUncommitted = false;

  constructor(blocks: ContentBlocks, options: { isShown: boolean; isTail: boolean }) {
    this.#blocks = blocks;
    this.#isShown = options.isShown;
    // A tail follows a pause, so the client's newest step is the one that asked.
    this.#content = options.isTail ? 'calls' : 'before';
  }

  /** Begins the step unless it has begun, or is over. */
  enter(step: number, out: UIStreamPart[]): void {
    if (step <= this.#step) return;
    this.#close(out);
    this.#step = step;
    this.#isUncommitted = false;
    this.#blocks.reset(step);
    this.#open(out);
  }

  /** Begins another frame within the newest step, for calls that wait for people, unless they join the newest frame. */
  enterAgain({ step, joins }: ChunkOf<'step_start'>, out: UIStreamPart[]): void {
    this.#step = Math.max(this.#step, step);
    if (joins === true) return;
    this.#close(out);
    this.#isUncommitted = false;
    this.#open(out);
  }

  noteContent(kind: 'content' | 'calls'): void {
    this.#isUncommitted = true;
    if (this.#content !== 'calls') this.#content = kind;
  }

  /** Closes the step, whose reply is stored. */
  commit(step: number, out: UIStreamPart[]): void {
    this.enter(step, out);
    this.#isUncommitted = false;
    this.#close(out);
  }

  /** Returns true if the client was sent parts of this step that may still be withdrawn. */
  isUncommitted(step: number): boolean {
    return step === this.#step && this.#isUncommitted;
  }

  /** Resets the step to its beginning; the client keeps its `start-step`. */
  discard(step: number): void {
    if (step !== this.#step || !this.#isOpen) return;
    this.#isUncommitted = false;
    this.#content = 'nothing';
    this.#blocks.reset(step);
  }

  /** Announces an open step again, for a reader that joins in the middle of it. */
  reopen(out: UIStreamPart[]): void {
    if (this.#isOpen && this.#isShown) out.push({ type: 'start-step' });
  }

  /**
   * Closes the last step. With `guard`, a step whose results a stock client would send back is
   * followed by another step with metadata: clients ignore an empty step.
   */
  end(out: UIStreamPart[], options: { guard: boolean }): void {
    if (this.#isShown && options.guard && this.#content !== 'content') {
      if (this.#content !== 'nothing') {
        this.#close(out);
        this.#open(out);
      }
      out.push({ type: 'message-metadata', messageMetadata: {} });
    }
    this.#close(out);
  }

  #open(out: UIStreamPart[]): void {
    this.#isOpen = true;
    this.#content = 'nothing';
    if (this.#isShown) out.push({ type: 'start-step' });
  }

  #close(out: UIStreamPart[]): void {
    this.#blocks.close(out);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#isShown) out.push({ type: 'finish-step' });
  }
}

export interface StreamTransformerOptions {
  generateMessageId?: (agentId: string) => string;
  /** Bare `start-step` and `finish-step` around each step; stock clients loop without them. */
  includeStepEvents?: boolean;
  chunkFilter?: (chunk: StreamChunk) => boolean;
  profile?: StreamProfile;
  /** Calls that sub-agents already carry out, by session; absent if the reader hides sub-agents. */
  subAgents?: ReadonlyMap<string, string> | undefined;
  /** Agent whose message this is. Default: the first chunk's agent. */
  agentId?: string;
  /** True if the client has the message up to here and this stream only adds to it. */
  isTail?: boolean;
  /** Calls that were denied before this stream and that the client's message does not show as denied. */
  denied?: ReadonlySet<string> | undefined;
  /** Logs chunks that this version does not know. Default: no log. */
  logger?: { debug: (message: string, fields: object) => void };
  /** Returns true for approval requests that were answered before the reader joined. */
  isAnswered?: (toolCallId: string) => boolean;
  /** Returns true for approvals that the reader may not give; unanswered requests are left out. */
  isWithheld?: (toolCallId: string) => boolean;
}

/** A chunk with its sequence, as resumable readers yield it. */
type PlacedChunk = Pick<StoredChunk, 'chunk' | 'sequence'>;

export interface Transformed {
  events: UIStreamPart[];
  /** Sequence of the chunk in the log; absent for a bare chunk. */
  sequence?: number;
  /** True if the client holds withdrawn parts: its connection must be cut after the events. */
  mustCut?: true;
}

/** Converts the chunks of one turn into parts of the AI SDK's UI message stream. */
export class StreamTransformer {
  readonly #options: StreamTransformerOptions;
  readonly #blocks = new ContentBlocks();
  readonly #calls: ToolCalls;
  readonly #step: StepFrame;
  readonly #ending = new RunEnding();
  readonly #subAgents: SubAgentParts | undefined;
  /** Calls of the tool that ends a run with structured output: no client sees them. */
  readonly #finishCalls = new Set<string>();
  /** Writers of custom events and state patches. */
  readonly #eventWriters = new Set<string>();
  #agentId: string | undefined;
  #isStarted = false;
  #isCut = false;

  constructor(options: StreamTransformerOptions = {}) {
    const { profile = 'common', isTail = false } = options;
    const { isAnswered = () => false, isWithheld = () => false, denied = new Set() } = options;
    this.#options = options;
    this.#agentId = options.agentId;
    this.#subAgents = options.subAgents && new SubAgentParts(options.subAgents);
    this.#calls = new ToolCalls({ profile, isAnswered, isWithheld, isTail, denied });
    this.#step = new StepFrame(this.#blocks, {
      isShown: options.includeStepEvents ?? true,
      isTail,
    });
  }

  /** Returns the first event of a response; `transform` adds it unless this was called. */
  start(): UIStreamPart[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const agentId = this.#agentId ?? '';
    return [
      { type: 'start', messageId: this.#options.generateMessageId?.(agentId) ?? `msg-${agentId}` },
    ];
  }

  /** Converts a chunk, bare, with its sequence, or as a log entry. Unknown types yield no event. */
  transform(item: LogEntry | PlacedChunk | StreamMessage): Transformed {
    const message = 'message' in item ? item.message : 'chunk' in item ? item.chunk : item;
    const result: Transformed = { events: [] };
    if (!('type' in item)) result.sequence = item.sequence;
    // Control messages belong to the stream and to no agent.
    if (!('agentId' in message)) {
      if (message.type === 'stream_end') this.#ending.end(message);
      if (message.type === 'stream_truncated') result.mustCut = true;
      return result;
    }
    this.#agentId ??= message.agentId;
    const ofSubAgent = this.#subAgents?.add(message) ?? [];
    if (message.agentId !== this.#agentId) {
      if (ofSubAgent.length > 0) result.events = [...this.start(), ...ofSubAgent];
      return result;
    }
    if (this.#options.chunkFilter?.(message) === false) return result;
    result.events = this.start();
    if ('message' in item) this.#noteWriter(item.writer, message);
    if (message.type === 'stream_resync' && this.#isWithdrawn(message)) result.mustCut = true;
    if (message.type === 'text_delta') this.#write('text', message.delta, message, result.events);
    else if (message.type === 'thinking') {
      this.#write('reasoning', message.content, message, result.events);
    } else if (message.type === 'step_discarded') this.#discard(message, result);
    else if (isToolChunk(message)) this.#addTool(message, result.events);
    else this.#add(message, result.events);
    return result;
  }

  /** Closes open blocks and steps; the last event has the finish reason. */
  finalize(): { events: UIStreamPart[] } {
    const events = this.start();
    const { failure, isAsking } = this.#ending;
    this.#step.end(events, { guard: !isAsking });
    if (failure !== undefined) events.push({ type: 'error', errorText: failure });
    events.push({ type: 'finish', finishReason: this.#ending.toFinishReason() });
    return { events };
  }

  /** Announces the open step, blocks and calls to a reader without earlier events. */
  reopen(): UIStreamPart[] {
    const events: UIStreamPart[] = [];
    this.#step.reopen(events);
    this.#blocks.reopen(events);
    this.#calls.reopen(events);
    return events;
  }

  /** Remembers the writer: its events and patches are withdrawn if the call is executed again. */
  #noteWriter(writer: string, { type }: StreamChunk): void {
    if (type === 'custom' || type === 'state_patch') this.#eventWriters.add(writer);
  }

  /** Returns true if the client holds events of a call that is executed again. */
  #isWithdrawn({ toolCallId }: ChunkOf<'stream_resync'>): boolean {
    return toolCallId !== undefined && this.#eventWriters.has(`t:${toolCallId}`);
  }

  #add(chunk: StreamChunk, out: UIStreamPart[]): void {
    this.#ending.accept(chunk);
    switch (chunk.type) {
      case 'source_url':
      case 'source_document':
      case 'file':
        this.#enterWithContent(chunk.step, out);
        out.push(toSourcePart(chunk));
        break;
      case 'custom':
        out.push({ ...toEventPart(chunk), transient: chunk.transient === true || undefined });
        break;
      case 'output':
        out.push({ type: 'data-output', data: chunk.output ?? null });
        break;
      case 'step_start':
        if (chunk.stepId === ASK_STEP_ID) this.#step.enterAgain(chunk, out);
        else this.#step.enter(chunk.step, out);
        break;
      case 'step_end':
        this.#calls.endStep(out);
        this.#markCut(chunk.interrupted, out);
        this.#step.commit(chunk.step, out);
        break;
      case 'error':
        out.push(toFailurePart(chunk));
        break;
      default:
        this.#pushControl(chunk, out);
    }
  }

  /** Marks the message as cut, and removes the mark once the run continues. */
  #markCut(interrupted: Interruption | undefined, out: UIStreamPart[]): void {
    if (interrupted === undefined && !this.#isCut) return;
    this.#isCut = interrupted !== undefined;
    out.push({ type: 'message-metadata', messageMetadata: toInterruptedMetadata(interrupted) });
  }

  #write(
    kind: 'text' | 'reasoning',
    text: string,
    chunk: ChunkOf<'text_delta'> | ChunkOf<'thinking'>,
    out: UIStreamPart[],
  ): void {
    if (text !== '' || chunk.block !== undefined) this.#enterWithContent(chunk.step, out);
    this.#blocks.write(kind, text, chunk, out);
  }

  #enterWithContent(step: number, out: UIStreamPart[]): void {
    this.#step.enter(step, out);
    this.#step.noteContent('content');
  }

  #addTool(chunk: ToolChunk, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    if ('toolName' in chunk && chunk.toolName === FINISH_TOOL_NAME)
      this.#finishCalls.add(toolCallId);
    if (this.#finishCalls.has(toolCallId)) return;
    if (isCallOpening(chunk)) {
      this.#step.enter(chunk.step, out);
      this.#step.noteContent('calls');
      this.#blocks.leave(out);
    }
    this.#calls.add(chunk, out);
  }

  #discard(chunk: ChunkOf<'step_discarded'>, result: Transformed): void {
    if (this.#step.isUncommitted(chunk.step)) {
      if (this.#options.profile !== 'v7') {
        result.mustCut = true;
        this.#pushControl(chunk, result.events);
        return;
      }
      result.events.push({ type: 'reset-step' });
    }
    this.#step.discard(chunk.step);
    this.#calls.discardStreaming();
    this.#pushControl(chunk, result.events);
  }

  #pushControl(chunk: StreamChunk, out: UIStreamPart[]): void {
    const part = toControlPart(chunk);
    if (part !== undefined) out.push(part);
    else if (!INTERNAL.has(chunk.type)) {
      this.#options.logger?.debug('an unknown chunk was left out', { type: chunk.type });
    }
  }
}

/** Types of chunks that clients never get. */
const INTERNAL = new Set<StreamChunk['type']>(['suspension_marker']);

function toEvent(chunk: StreamChunk, callId: string): SubAgentEvent | undefined {
  const about = { callId, agentId: toShownSessionId(chunk.agentId), agent: chunk.agentType };
  switch (chunk.type) {
    case 'text_delta':
      return { ...about, kind: 'text', delta: chunk.delta };
    case 'step_start':
      return { ...about, kind: 'step' };
    case 'step_discarded':
      return { ...about, kind: 'discarded' };
    case 'tool_start':
    case 'tool_end': {
      const { toolCallId, toolName } = chunk;
      if (toolName === FINISH_TOOL_NAME) return undefined;
      const ended = 'error' in chunk && chunk.error !== undefined ? 'failed' : 'done';
      const state = chunk.type === 'tool_start' ? 'running' : ended;
      return { ...about, kind: 'tool', toolCallId, toolName, state };
    }
    default:
      return undefined;
  }
}
