import type { LanguageModelUsage } from 'ai';
import { modelNameOf } from '../../activities/model/spending.js';
import { toPerformance } from '../../activities/model/step-performance.js';
import { toMadeFile, toUsage } from '../../activities/model/step-records.js';
import type { AgentDefinition } from '../../agents/index.js';
import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { ASK_STEP_ID, FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { ToolUses, type Part, type ToolUse } from './tool-uses.js';

/**
 * Chunks of a run as parts of the AI SDK's text stream: text and reasoning in blocks, a step's results
 * before its end.
 */
export class TextParts {
  readonly #agent: AgentDefinition;
  readonly #uses: ToolUses;
  readonly #denied: readonly string[];
  #step = 0;
  #blocks = 0;
  #block: { kind: 'text' | 'reasoning'; id: string } | undefined;
  /** The newest step's end, which waits for the results of its tools. */
  #ending: Part | undefined;
  /** Something of the newest step was given that may still be withdrawn. */
  #isOpen = false;

  /**
   * @param known  calls that were made before the stream begins
   * @param denied those of them that were denied just before
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

  /** True if the discarded step's parts were given already. */
  isWithdrawn(chunk: StreamChunk): boolean {
    return chunk.type === 'step_discarded' && this.#isOpen;
  }

  take(chunk: StreamChunk): Part[] {
    switch (chunk.type) {
      case 'step_start':
        return chunk.stepId === ASK_STEP_ID ? [] : this.#begin(chunk.step);
      case 'text_delta':
        return chunk.delta === '' ? [] : this.#write('text', chunk.delta);
      case 'thinking': {
        const written = chunk.content === '' ? [] : this.#write('reasoning', chunk.content);
        return chunk.isComplete ? [...written, ...this.#close('reasoning')] : written;
      }
      case 'source_url': {
        const { sourceId: id, url, title } = chunk;
        return this.#add({ type: 'source', sourceType: 'url', id, url, ...(title && { title }) });
      }
      case 'source_document': {
        const { sourceId: id, mediaType, title, filename } = chunk;
        const about = { mediaType, title, ...(filename && { filename }) };
        return this.#add({ type: 'source', sourceType: 'document', id, ...about });
      }
      case 'file':
        return this.#add({ type: 'file', file: toMadeFile(chunk) });
      case 'step_end':
        this.#ending = this.#toEnding(chunk);
        this.#isOpen = false;
        return this.#close();
      default:
        return chunk.type.startsWith('tool_') ? this.#takeTool(chunk) : [];
    }
  }

  /** Ends what is open. */
  end(): Part[] {
    const parts = [...this.#close(), ...(this.#ending === undefined ? [] : [this.#ending])];
    this.#ending = undefined;
    return parts;
  }

  #begin(step: number): Part[] {
    if (step <= this.#step) return [];
    this.#step = step;
    this.#isOpen = false;
    return [...this.end(), { type: 'start-step', request: {}, warnings: [] }];
  }

  #add(part: Part): Part[] {
    this.#isOpen = true;
    return [...this.#close(), part];
  }

  #write(kind: 'text' | 'reasoning', text: string): Part[] {
    this.#isOpen = true;
    const opened: Part[] = [];
    if (this.#block?.kind !== kind) {
      opened.push(...this.#close());
      this.#blocks += 1;
      this.#block = { kind, id: `${kind}-${String(this.#blocks)}` };
      opened.push({ type: `${kind}-start`, id: this.#block.id });
    }
    return [...opened, { type: `${kind}-delta`, id: this.#block.id, text }];
  }

  #close(kind = this.#block?.kind): Part[] {
    if (this.#block === undefined || this.#block.kind !== kind) return [];
    const { id } = this.#block;
    this.#block = undefined;
    return [{ type: `${kind}-end`, id }];
  }

  #takeTool(chunk: StreamChunk): Part[] {
    if ('toolName' in chunk && chunk.toolName === FINISH_TOOL_NAME) return [];
    const { parts, isOfModel } = this.#uses.take(chunk);
    if (parts.length === 0 || !isOfModel) return parts;
    this.#isOpen ||= this.#ending === undefined;
    return [...this.#close(), ...parts];
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
