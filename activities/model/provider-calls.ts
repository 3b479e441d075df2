import type { LanguageModelV4ToolCall, LanguageModelV4ToolResult } from '@ai-sdk/provider';
import type { ChunkOf } from '../../protocol/chunk.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import { isTooLargeToShow, toShownResult, toPartialInput } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';

type Base = 'agentId' | 'agentType' | 'step' | 'timestamp';
export type ProviderChunk =
  | Omit<ChunkOf<'tool_start'>, Base>
  | Omit<ChunkOf<'tool_end'>, Base>
  | Omit<ChunkOf<'tool_output_preliminary'>, Base>;

/** Chunks of calls that the model's provider executes, such as a web search. */
export interface ProviderCalls {
  start: (call: NamedCall<LanguageModelV4ToolCall>) => ProviderChunk;
  /** Returns undefined for a preliminary result that is too large. */
  end: (result: NamedCall<LanguageModelV4ToolResult>) => ProviderChunk | undefined;
}

/** Carries the conversation's id and name of the call. */
type NamedCall<Part> = Part & { toolCallId: string; toolName: string };

export function createProviderCalls(): ProviderCalls {
  let preliminaryBytes = 0;

  return {
    start: ({ toolCallId, toolName, input: text }) => {
      const input = toPartialInput(text);
      // The row keeps the chunk's arguments, so that history matches the live view.
      const args = isRecord(input) && !isTooLargeToShow(input) ? input : {};
      const marks = { providerExecuted: true, byProvider: true };
      return { type: 'tool_start', toolCallId, toolName, arguments: args, ...marks };
    },
    end: (part) => {
      const { toolCallId, toolName } = part;
      const shown = toShownResult(toKept(part));
      const base = { toolCallId, toolName, providerExecuted: true };
      if (part.preliminary !== true) {
        return { type: 'tool_end', ...base, ...shown, byProvider: true };
      }
      const bytes = Buffer.byteLength(JSON.stringify(shown.result));
      preliminaryBytes += bytes;
      const isShown =
        bytes <= LIMITS.preliminaryBytes && preliminaryBytes <= LIMITS.callPreliminaryBytes;
      return isShown
        ? { type: 'tool_output_preliminary', ...base, result: shown.result }
        : undefined;
    },
  };
}

/** Denies a call for which the provider wants an approval; the AI SDK does not send it back. */
export function toDenied(toolCallId: string, toolName: string): LanguageModelV4ToolResult {
  const why = 'people cannot approve what the provider carries out.';
  const result = { type: 'execution-denied', reason: `provider_approval_unsupported: ${why}` };
  return { type: 'tool-result', toolCallId, toolName, result, isError: true };
}

/** Converts a result for the row; the provider wants it back in its own form. */
export function toKept({
  result,
  isError,
}: Pick<LanguageModelV4ToolResult, 'result' | 'isError'>): Pick<
  Extract<AssistantPart, { type: 'tool-result' }>,
  'output' | 'isError'
> {
  const failed = (output: string) => ({ output, isError: true });
  const fault = findJsonFault(result);
  if (fault !== undefined) return failed(`The result cannot be kept: ${fault}.`);
  if (Buffer.byteLength(JSON.stringify(result)) > LIMITS.answerBytes) {
    return failed('The result is too large.');
  }
  return isError === true ? { output: result, isError } : { output: result };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
