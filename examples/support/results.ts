import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { z } from 'zod';
import { tryParseJson } from '../../protocol/limits.js';
import { createReply, cutWords, readChangedInput, type Reply } from '../../agents/index.js';

/** A person's edit of a call's input before approval. */
export interface Change {
  readonly by: string;
  readonly input: unknown;
}

/** The outcome of a tool call, as the model gets it. */
export type Outcome<T> = (
  | { readonly ok: true; readonly value: T }
  /** The call failed or was refused; the reason may be empty. */
  | { readonly ok: false; readonly reason: string }
) & { readonly toolCallId: string; readonly changed?: Change };

/** Finds a tool's newest result among messages; undefined if the tool was not called. */
export function findOutcome<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): Outcome<T> | undefined {
  return findOutcomes(messages, toolName, schema).at(-1);
}

/** Finds all of a tool's results that match the schema, oldest first. */
export function findResults<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): T[] {
  return findOutcomes(messages, toolName, schema).flatMap((outcome) =>
    outcome.ok ? [outcome.value] : [],
  );
}

/** Returns a call's input; undefined if the call is missing or its input does not match the schema. */
export function findInput<T>(
  messages: LanguageModelV4Prompt,
  toolCallId: string,
  schema: z.ZodType<T>,
): T | undefined {
  const made = messages
    .flatMap((message) => (message.role === 'assistant' ? message.content : []))
    .find((part) => part.type === 'tool-call' && part.toolCallId === toolCallId);
  return made?.type === 'tool-call' ? schema.safeParse(made.input).data : undefined;
}

function findOutcomes<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): Outcome<T>[] {
  return messages
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .filter((part) => part.type === 'tool-result')
    .filter((part) => part.toolName === toolName)
    .map(({ toolCallId, output }) => toOutcome(toolCallId, output, schema));
}

function toOutcome<T>(
  toolCallId: string,
  output: LanguageModelV4ToolResultPart['output'],
  schema: z.ZodType<T>,
): Outcome<T> {
  const text = 'value' in output && typeof output.value === 'string' ? output.value : '';
  const change = readChangedInput(text);
  const changed = change && { changed: { by: change.by, input: change.input } };
  const parsed = schema.safeParse(toValue(output, change?.outcome));
  if (parsed.success) return { ok: true, value: parsed.data, toolCallId, ...changed };
  return { ok: false, reason: change?.outcome ?? toReason(output, text), toolCallId, ...changed };
}

function toValue(output: LanguageModelV4ToolResultPart['output'], outcome?: string): unknown {
  if (output.type === 'json') return output.value;
  // An error text is no value.
  return outcome === undefined ? undefined : tryParseJson(outcome);
}

function toReason(output: LanguageModelV4ToolResultPart['output'], text: string): string {
  return output.type === 'execution-denied' ? (output.reason ?? '') : text;
}

/** A readable pace, ms per word. */
const WORD_MS = 25;

/** A call to make. */
export interface Named {
  readonly tool: string;
  readonly args: object;
}

/** Says words at a reader's pace. */
export function say(text: string): Reply {
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}

/** Says words, then makes the calls in parallel. */
export function callAll(text: string, ...calls: readonly Named[]): Reply {
  return {
    ...say(text),
    calls: calls.map(({ tool, args }) => {
      const input = JSON.stringify(args);
      return { tool, id: `call-${crypto.randomUUID()}`, input, inputPieces: [input] };
    }),
  };
}

/** Says words, then makes one call. */
export function call(text: string, tool: string, args: object): Reply {
  return callAll(text, { tool, args });
}
