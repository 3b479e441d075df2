import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { z } from 'zod';
import { createReply, cutWords, readChangedInput, type Reply } from '../../agents/index.js';

/** What a person made of a call's input before agreeing to it. */
export interface Change {
  readonly by: string;
  readonly input: unknown;
}

/** The outcome of a tool call, as the model gets it. */
export type Outcome<T> = (
  | { readonly ok: true; readonly value: T }
  /** It failed, or a person refused it; the reason may be empty. */
  | { readonly ok: false; readonly reason: string }
) & { readonly toolCallId: string; readonly changed?: Change };

/** The newest result of a tool among messages; undefined if it was not called. */
export function findOutcome<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): Outcome<T> | undefined {
  return findOutcomes(messages, toolName, schema).at(-1);
}

/** All results of a tool that fit, oldest first. */
export function findResults<T>(
  messages: LanguageModelV4Prompt,
  toolName: string,
  schema: z.ZodType<T>,
): T[] {
  return findOutcomes(messages, toolName, schema).flatMap((outcome) =>
    outcome.ok ? [outcome.value] : [],
  );
}

/** The input of a call; undefined if there is no call of that id, or its input has another shape. */
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
  try {
    return outcome === undefined ? undefined : JSON.parse(outcome);
  } catch {
    // Why it failed, in words.
    return undefined;
  }
}

function toReason(output: LanguageModelV4ToolResultPart['output'], text: string): string {
  return output.type === 'execution-denied' ? (output.reason ?? '') : text;
}

/** A pace at which one can read along, in ms a word. */
const WORD_MS = 25;

/** A call that is to be made. */
export interface Named {
  readonly tool: string;
  readonly args: object;
}

/** Words at a reader's pace. */
export function say(text: string): Reply {
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}

/** Words, then calls that are made at once. */
export function callAll(text: string, ...calls: readonly Named[]): Reply {
  return {
    ...say(text),
    calls: calls.map(({ tool, args }) => {
      const input = JSON.stringify(args);
      return { tool, id: `call-${crypto.randomUUID()}`, input, inputPieces: [input] };
    }),
  };
}

/** Words, then one call. */
export function call(text: string, tool: string, args: object): Reply {
  return callAll(text, { tool, args });
}
