import type { TextStreamPart, ToolSet } from 'ai';
import { toDynamicMark } from '../../../activities/model/step-records.js';
import type { AgentDefinition } from '../../../agents/index.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import type { Row } from '../../../protocol/rows.js';

/** A part of the AI SDK's text stream, for any tools. */
export type Part = TextStreamPart<ToolSet>;

/** A call in the form of the AI SDK. */
export interface ToolUse {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

interface Taken {
  parts: Part[];
  /** True for parts that the model wrote, false for outcomes of its calls. */
  isOfModel: boolean;
}

/** Returns the calls in the rows of a turn. */
export function toUses(rows: readonly Row[]): ToolUse[] {
  return rows.flatMap((row) =>
    row.role === 'assistant'
      ? row.parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []))
      : [],
  );
}

const NOTHING: Taken = { parts: [], isOfModel: false };

/** Converts the chunks of a turn's calls to parts of the AI SDK's text stream. */
export class ToolUses {
  readonly #markOf: (toolName: string) => { dynamic?: true };
  readonly #isClients: (toolName: string) => boolean;
  readonly #calls: Map<string, ToolUse>;
  /** Calls made before the stream began. */
  readonly #known: ReadonlySet<string>;
  readonly #announced = new Set<string>();
  readonly #settled = new Set<string>();
  /** Calls whose arguments are streaming; `isShown` after the first piece was given. */
  readonly #writing = new Map<string, { toolName: string; isShown: boolean }>();
  /** Calls that the model's provider executes. */
  readonly #ofProvider = new Set<string>();

  constructor(agent: AgentDefinition, known: readonly ToolUse[]) {
    this.#markOf = (toolName) => toDynamicMark(agent, toolName);
    this.#isClients = (toolName) =>
      agent.tools.some(({ name, execute }) => name === toolName && execute === 'client');
    this.#calls = new Map(
      known.map(({ toolCallId, toolName, input }) => [toolCallId, { toolCallId, toolName, input }]),
    );
    this.#known = new Set(this.#calls.keys());
    for (const toolCallId of this.#known) this.#announced.add(toolCallId);
  }

  take(chunk: StreamChunk): Taken {
    switch (chunk.type) {
      case 'tool_arg_stream_start':
        this.#writing.set(chunk.toolCallId, { toolName: chunk.toolName, isShown: false });
        return NOTHING;
      case 'tool_arg_stream_delta': {
        const { toolCallId, delta } = chunk;
        return spoken(...this.#startInput(toolCallId), {
          type: 'tool-input-delta',
          id: toolCallId,
          delta,
        });
      }
      case 'tool_start':
        if (chunk.byProvider === true) this.#ofProvider.add(chunk.toolCallId);
        return spoken(...this.#announce({ ...chunk, input: chunk.arguments }));
      case 'tool_input_error': {
        const { toolCallId, toolName, partialInput: input, error } = chunk;
        const call = { toolCallId, toolName, input };
        const announced = this.#announce(call, { dynamic: true });
        return spoken(
          ...announced.map((part) =>
            part.type === 'tool-call' ? ({ ...part, invalid: true, error } as Part) : part,
          ),
          ...this.#settle(call, { type: 'tool-error', error }),
        );
      }
      case 'tool_approval_request': {
        const { approvalId, isAutomatic } = chunk;
        const announced = this.#announce(chunk);
        const toolCall = this.#call(chunk);
        const asked = { approvalId, ...(isAutomatic === true && { isAutomatic }), toolCall };
        return spoken(...announced, { type: 'tool-approval-request', ...asked } as Part);
      }
      case 'tool_approval_response': {
        const { approvalId, approved, reason } = chunk;
        const toolCall = this.#call(chunk);
        const answer = { approvalId, approved, ...(reason !== undefined && { reason }), toolCall };
        const denied = approved ? [] : this.deny(chunk.toolCallId);
        return outcome({ type: 'tool-approval-response', ...answer } as Part, ...denied);
      }
      case 'tool_output_preliminary': {
        if (this.#settled.has(chunk.toolCallId)) return NOTHING;
        const result = { output: chunk.result ?? null, preliminary: true };
        return outcome({ ...this.#call(chunk), ...result, type: 'tool-result' } as Part);
      }
      case 'tool_output_error':
        return outcome(...this.#settle(chunk, { type: 'tool-error', error: chunk.error }));
      case 'tool_end': {
        const { result, error } = chunk;
        // Answers arrive only after a pause, which ends the program's call. This result comes from the run's end.
        const isAsked = !this.#known.has(chunk.toolCallId);
        if (isAsked && error === undefined && this.#isClients(chunk.toolName)) return NOTHING;
        if (chunk.byProvider === true) this.#ofProvider.add(chunk.toolCallId);
        const settled =
          error === undefined
            ? { type: 'tool-result', output: result ?? null }
            : { type: 'tool-error', error };
        return outcome(...this.#settle(chunk, settled));
      }
      default:
        return NOTHING;
    }
  }

  /** Returns no parts for an unknown or settled call. */
  deny(toolCallId: string): Part[] {
    const call = this.#calls.get(toolCallId);
    if (call === undefined || this.#settled.has(toolCallId)) return [];
    this.#settled.add(toolCallId);
    return [{ type: 'tool-output-denied', toolCallId, toolName: call.toolName }];
  }

  #announce({ toolCallId, toolName, input }: ToolUse, more: object = {}): Part[] {
    if (this.#announced.has(toolCallId)) return [];
    this.#announced.add(toolCallId);
    this.#calls.set(toolCallId, { toolCallId, toolName, input, ...more });
    const announced = this.#call({ toolCallId, toolName }) as Part;
    const isWritten = this.#writing.get(toolCallId)?.isShown === true;
    return isWritten ? [{ type: 'tool-input-end', id: toolCallId }, announced] : [announced];
  }

  /** As in the AI SDK, a call whose arguments came at once gets no input parts. */
  #startInput(id: string): Part[] {
    const written = this.#writing.get(id);
    if (written === undefined || written.isShown) return [];
    written.isShown = true;
    const { toolName } = written;
    return [{ type: 'tool-input-start', id, toolName, ...this.#markOf(toolName) }];
  }

  /** Gives a call at most one outcome. */
  #settle(call: { toolCallId: string; toolName: string }, outcome: object): Part[] {
    if (this.#settled.has(call.toolCallId)) return [];
    this.#settled.add(call.toolCallId);
    return [{ ...this.#call(call), ...outcome } as Part];
  }

  #call({ toolCallId, toolName }: { toolCallId: string; toolName: string }): object {
    const known = this.#calls.get(toolCallId) ?? { toolCallId, toolName, input: undefined };
    const mark = this.#ofProvider.has(toolCallId) ? { providerExecuted: true } : {};
    return { type: 'tool-call', ...this.#markOf(toolName), ...known, ...mark };
  }
}

const spoken = (...parts: Part[]): Taken => ({ parts, isOfModel: true });
const outcome = (...parts: Part[]): Taken => ({ parts, isOfModel: false });
