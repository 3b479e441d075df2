import type { LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import { modelNameOf } from '../../../activities/model/spending.js';
import {
  toDynamicMark,
  toMadeFile,
  toPerformance,
  toUsage,
} from '../../../activities/model/step-records.js';
import type { AgentDefinition } from '../../../agents/index.js';
import type { ChunkOf, ShownMetadata, StreamChunk } from '../../../protocol/chunk.js';
import { HelixError } from '../../../protocol/errors.js';
import { ASK_STEP_ID, FINISH_TOOL_NAME } from '../../../protocol/ids.js';
import { ContentBlocks, type BlockPart } from '../../../protocol/reply-fold.js';
import type { Row } from '../../../protocol/rows.js';

/** A part of the AI SDK's text stream, for any tools. */
export type Part = TextStreamPart<ToolSet>;

interface ToolUse {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** A call's part in a run. */
export interface PartsOf {
  agent: AgentDefinition;
  /** Name of the run's chunks, without those of sub-agents. */
  agentId: string;
  /** Rows of the turn before the call. */
  given: readonly Row[];
  /** Ids of the given calls that were just denied. */
  denied: readonly string[];
}

/**
 * Converts a call's chunks to parts of the AI SDK's text stream.
 *
 * @param last end of the call
 * @throws HelixError `rewound` if an attempt failed and given parts are withdrawn
 */
export async function* toPartStream(
  chunks: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  of: PartsOf,
  last: Promise<Part>,
): AsyncGenerator<Part, void, undefined> {
  const parts = new TextParts(of.agent, of.given);
  yield { type: 'start' };
  for (const id of of.denied) yield* parts.deny(id);
  for await (const chunk of chunks) {
    if (chunk.agentId !== of.agentId) continue;
    // Chunks after a pause belong to the next call, even for a late reader.
    if (chunk.type === 'run_paused') break;
    yield* parts.take(chunk);
  }
  yield* parts.end();
  yield await last;
}

/** Writes text and reasoning in blocks, and a step's results before its end. */
class TextParts {
  readonly #agent: AgentDefinition;
  /** All calls so far. */
  readonly #calls = new Map<string, ToolUse>();
  /** Calls made before the stream began. */
  readonly #given: ReadonlySet<string>;
  readonly #settled = new Set<string>();
  /** Calls whose arguments are streaming; `isShown` after the first piece was given. */
  readonly #writing = new Map<string, { toolName: string; isShown: boolean }>();
  /** Calls that the model's provider executes. */
  readonly #ofProvider = new Set<string>();
  readonly #blocks = new ContentBlocks();
  #step = 0;
  /** End of the newest step, held back until its tools have results. */
  #ending: Part | undefined;
  /** True if given parts of the newest step may still be withdrawn. */
  #isOpen = false;

  constructor(agent: AgentDefinition, given: readonly Row[]) {
    this.#agent = agent;
    for (const part of given.flatMap((row) => (row.role === 'assistant' ? row.parts : []))) {
      if (part.type !== 'tool-call') continue;
      const { toolCallId, toolName, input } = part;
      this.#calls.set(toolCallId, { toolCallId, toolName, input });
    }
    this.#given = new Set(this.#calls.keys());
  }

  /** @throws HelixError `rewound` for a chunk that discards a step whose parts were already given */
  take(chunk: StreamChunk): Part[] {
    if ('toolName' in chunk && chunk.toolName === FINISH_TOOL_NAME) return [];
    switch (chunk.type) {
      case 'step_start':
        return chunk.stepId === ASK_STEP_ID ? [] : this.#begin(chunk.step);
      case 'step_end':
        this.#ending = this.#toEnding(chunk);
        this.#isOpen = false;
        return this.#close();
      case 'step_discarded':
        if (!this.#isOpen) return [];
        throw new HelixError(
          'rewound',
          'The step begins again; what it wrote so far does not count.',
        );
      case 'text_delta':
        return this.#write('text', chunk.delta, chunk);
      case 'thinking':
        return this.#write('reasoning', chunk.content, chunk);
      case 'source_url': {
        const { sourceId: id, url, title, providerMetadata } = chunk;
        return this.#add({ type: 'source', sourceType: 'url', id, url, title, providerMetadata });
      }
      case 'source_document': {
        const { sourceId: id, mediaType, title, filename, providerMetadata } = chunk;
        const about = { id, mediaType, title, filename, providerMetadata };
        return this.#add({ type: 'source', sourceType: 'document', ...about });
      }
      case 'file': {
        const { providerMetadata } = chunk;
        return this.#add({ type: 'file', file: toMadeFile(chunk), providerMetadata });
      }
      case 'tool_arg_stream_start':
        this.#writing.set(chunk.toolCallId, { toolName: chunk.toolName, isShown: false });
        return [];
      case 'tool_arg_stream_delta':
        return this.#speak(this.#writeInput(chunk));
      case 'tool_start':
        if (chunk.byProvider === true) this.#ofProvider.add(chunk.toolCallId);
        return this.#speak(
          this.#announce({ ...chunk, input: chunk.arguments }, toProviderFields(chunk)),
        );
      case 'tool_input_error': {
        const { toolCallId, toolName, partialInput: input, error } = chunk;
        const call = { toolCallId, toolName, input };
        const announced = this.#announce(call, { dynamic: true }).map((part) =>
          part.type === 'tool-call' ? ({ ...part, invalid: true, error } as Part) : part,
        );
        return this.#speak([...announced, ...this.#settle(call, { type: 'tool-error', error })]);
      }
      case 'tool_approval_request': {
        const { approvalId, isAutomatic } = chunk;
        const announced = this.#announce(chunk, toProviderFields(chunk));
        const toolCall = this.#toCall(chunk);
        const asked = { approvalId, ...(isAutomatic === true && { isAutomatic }), toolCall };
        return this.#speak([...announced, { type: 'tool-approval-request', ...asked } as Part]);
      }
      case 'tool_approval_response': {
        const { approvalId, approved, reason } = chunk;
        const toolCall = this.#toCall(chunk);
        const answer = { approvalId, approved, ...(reason !== undefined && { reason }), toolCall };
        const denied = approved ? [] : this.deny(chunk.toolCallId);
        return [{ type: 'tool-approval-response', ...answer } as Part, ...denied];
      }
      case 'tool_output_preliminary': {
        if (this.#settled.has(chunk.toolCallId)) return [];
        const result = { output: chunk.result ?? null, preliminary: true };
        return [{ ...this.#toCall(chunk), ...result, type: 'tool-result' } as Part];
      }
      case 'tool_output_error':
        return this.#settle(chunk, { type: 'tool-error', error: chunk.error });
      case 'tool_end': {
        const { toolCallId, result, error } = chunk;
        if (chunk.byProvider === true) this.#ofProvider.add(toolCallId);
        if (error !== undefined) return this.#settle(chunk, { type: 'tool-error', error });
        // Answers arrive only after a pause, which ends the program's call. This result comes from the run's end.
        if (!this.#given.has(toolCallId) && this.#isOfClient(chunk.toolName)) return [];
        return this.#settle(chunk, { type: 'tool-result', output: result ?? null });
      }
      default:
        return [];
    }
  }

  /** Returns no parts for an unknown or settled call. */
  deny(toolCallId: string): Part[] {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || this.#settled.has(toolCallId)) return [];
    this.#settled.add(toolCallId);
    return [{ type: 'tool-output-denied', toolCallId, toolName: call.toolName }];
  }

  /** Ends open blocks and the open step. */
  end(): Part[] {
    const parts = [...this.#close(), ...(this.#ending === undefined ? [] : [this.#ending])];
    this.#ending = undefined;
    return parts;
  }

  #begin(step: number): Part[] {
    if (step <= this.#step) return [];
    this.#step = step;
    this.#isOpen = false;
    const ended = this.end();
    this.#blocks.reset(step);
    return [...ended, { type: 'start-step', request: {}, warnings: [] }];
  }

  #add(part: Part): Part[] {
    this.#isOpen = true;
    return [part];
  }

  #write(
    kind: 'text' | 'reasoning',
    delta: string,
    chunk: ChunkOf<'text_delta'> | ChunkOf<'thinking'>,
  ): Part[] {
    const written: BlockPart[] = [];
    this.#blocks.write(kind, delta, chunk, written);
    this.#isOpen ||= written.length > 0;
    return written.map(toPart);
  }

  #close(): Part[] {
    const closed: BlockPart[] = [];
    this.#blocks.close(closed);
    return closed.map(toPart);
  }

  /** Gives parts that the model wrote, which end its open blocks. */
  #speak(parts: Part[]): Part[] {
    if (parts.length === 0) return parts;
    this.#isOpen ||= this.#ending === undefined;
    const left: BlockPart[] = [];
    this.#blocks.leave(left);
    return [...left.map(toPart), ...parts];
  }

  /** As in the AI SDK, a call whose arguments came at once gets no input parts. */
  #writeInput({ toolCallId: id, delta }: ChunkOf<'tool_arg_stream_delta'>): Part[] {
    const written = this.#writing.get(id);
    if (written === undefined) return [];
    const { toolName, isShown } = written;
    written.isShown = true;
    const mark = toDynamicMark(this.#agent, toolName);
    const began: Part[] = isShown ? [] : [{ type: 'tool-input-start', id, toolName, ...mark }];
    return [...began, { type: 'tool-input-delta', id, delta }];
  }

  #announce({ toolCallId, toolName, input }: ToolUse, more: object = {}): Part[] {
    if (this.#calls.has(toolCallId)) return [];
    this.#calls.set(toolCallId, { toolCallId, toolName, input, ...more });
    const announced = this.#toCall({ toolCallId, toolName }) as Part;
    const isWritten = this.#writing.get(toolCallId)?.isShown === true;
    return isWritten ? [{ type: 'tool-input-end', id: toolCallId }, announced] : [announced];
  }

  /** Gives a call at most one outcome. */
  #settle(call: Pick<ToolUse, 'toolCallId' | 'toolName'>, outcome: object): Part[] {
    if (this.#settled.has(call.toolCallId)) return [];
    this.#settled.add(call.toolCallId);
    return [{ ...this.#toCall(call), ...outcome } as Part];
  }

  #toCall({ toolCallId, toolName }: Pick<ToolUse, 'toolCallId' | 'toolName'>): object {
    const known = this.#calls.get(toolCallId) ?? { toolCallId, toolName, input: undefined };
    const mark = this.#ofProvider.has(toolCallId) && { providerExecuted: true };
    return { type: 'tool-call', ...toDynamicMark(this.#agent, toolName), ...known, ...mark };
  }

  #isOfClient(toolName: string): boolean {
    return this.#agent.tools.some(({ name, execute }) => name === toolName && execute === 'client');
  }

  #toEnding({ usage: counted, finishReason = 'stop', timestamp }: ChunkOf<'step_end'>): Part {
    const usage: LanguageModelUsage = toUsage(counted);
    const modelId = modelNameOf(this.#agent.llmConfig);
    return {
      type: 'finish-step',
      response: { id: '', timestamp: new Date(timestamp), modelId },
      usage,
      finishReason,
      rawFinishReason: undefined,
      providerMetadata: undefined,
      performance: toPerformance({}, usage),
    };
  }
}

function toProviderFields({
  providerMetadata,
}: {
  providerMetadata?: ShownMetadata | undefined;
}): object {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

/** Renames `delta` to `text`, as the AI SDK names it in this stream. */
function toPart(part: BlockPart): Part {
  if (!('delta' in part)) return part;
  const { delta: text, ...rest } = part;
  return { ...rest, text };
}
