import type { LanguageModelUsage } from 'ai';
import { modelNameOf } from '../../../activities/model/spending.js';
import { toPerformance, toMadeFile, toUsage } from '../../../activities/model/step-records.js';
import type { AgentDefinition } from '../../../agents/index.js';
import type { ChunkOf, StreamChunk } from '../../../protocol/chunk.js';
import { ContentBlocks, type BlockPart } from '../../../protocol/reply-fold.js';
import { ASK_STEP_ID, FINISH_TOOL_NAME } from '../../../protocol/ids.js';
import { ToolUses, type Part, type ToolUse } from './tool-uses.js';

/**
 * Converts chunks of a run to parts of the AI SDK's text stream: text and reasoning in blocks, a step's
 * results before its end.
 */
export class TextParts {
  readonly #agent: AgentDefinition;
  readonly #uses: ToolUses;
  readonly #denied: readonly string[];
  #step = 0;
  readonly #blocks = new ContentBlocks();
  /** End of the newest step, held back until its tools have results. */
  #ending: Part | undefined;
  /** True if given parts of the newest step may still be withdrawn. */
  #isOpen = false;

  /**
   * @param known  calls made before the stream begins
   * @param denied the known calls that were just denied
   */
  constructor(
    agent: AgentDefinition,
    known: readonly ToolUse[] = [],
    denied: readonly string[] = [],
  ) {
    this.#agent = agent;
    this.#denied = denied;
    this.#uses = new ToolUses(agent, known);
  }

  start(): Part[] {
    return [{ type: 'start' }, ...this.#denied.flatMap((id) => this.#uses.deny(id))];
  }

  /** Returns true if the chunk discards a step whose parts were already given. */
  isWithdrawn(chunk: StreamChunk): boolean {
    return chunk.type === 'step_discarded' && this.#isOpen;
  }

  take(chunk: StreamChunk): Part[] {
    switch (chunk.type) {
      case 'step_start':
        return chunk.stepId === ASK_STEP_ID ? [] : this.#begin(chunk.step);
      case 'text_delta':
        return this.#write('text', chunk.delta, chunk);
      case 'thinking':
        return this.#write('reasoning', chunk.content, chunk);
      case 'source_url': {
        const { sourceId: id, url, title, providerMetadata } = chunk;
        const about = {
          url,
          ...(title && { title }),
          ...(providerMetadata && { providerMetadata }),
        };
        return this.#add({ type: 'source', sourceType: 'url', id, ...about });
      }
      case 'source_document': {
        const { sourceId: id, mediaType, title, filename, providerMetadata } = chunk;
        const named = { mediaType, title, ...(filename && { filename }) };
        const about = { ...named, ...(providerMetadata && { providerMetadata }) };
        return this.#add({ type: 'source', sourceType: 'document', id, ...about });
      }
      case 'file': {
        const { providerMetadata } = chunk;
        const about = providerMetadata && { providerMetadata };
        return this.#add({ type: 'file', file: toMadeFile(chunk), ...about });
      }
      case 'step_end':
        this.#ending = this.#toEnding(chunk);
        this.#isOpen = false;
        return this.#close();
      default:
        return chunk.type.startsWith('tool_') ? this.#takeTool(chunk) : [];
    }
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

  #takeTool(chunk: StreamChunk): Part[] {
    if ('toolName' in chunk && chunk.toolName === FINISH_TOOL_NAME) return [];
    const { parts, isOfModel } = this.#uses.take(chunk);
    if (parts.length === 0 || !isOfModel) return parts;
    this.#isOpen ||= this.#ending === undefined;
    const left: BlockPart[] = [];
    this.#blocks.leave(left);
    return [...left.map(toPart), ...parts];
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

/** Renames `delta` to `text`, as the AI SDK names it in this stream. */
function toPart(part: BlockPart): Part {
  if (!('delta' in part)) return part;
  const { delta: text, ...rest } = part;
  return { ...rest, text };
}
