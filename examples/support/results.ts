import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { z } from 'zod';

/** How a tool call came out, as the model is told. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  /** It failed, or a person refused it; the reason may be empty. */
  | { readonly ok: false; readonly reason: string };

/** The newest result of a tool among messages; undefined if it was not called. */
export function findOutcome<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): Outcome<T> | undefined {
  const output = messages
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .filter((part) => part.type === 'tool-result')
    .findLast((part) => part.toolName === toolName)?.output;
  if (output === undefined) return undefined;
  const parsed = output.type === 'json' ? schema.safeParse(output.value) : undefined;
  return parsed?.success
    ? { ok: true, value: parsed.data }
    : { ok: false, reason: toReason(output) };
}

function toReason(output: LanguageModelV4ToolResultPart['output']): string {
  if (output.type === 'execution-denied') return output.reason ?? '';
  return typeof output.value === 'string' ? output.value : '';
}
