import { asSchema, type Schema } from 'ai';
import type { z } from 'zod';
import type { ToolDefinition } from '../../agents/definitions.js';
import { isObject } from '../../agents/fields.js';
import { hasPrototypeKeys, isDeeperThan, LIMITS, tryParseJson } from '../../protocol/limits.js';

/** JSON arguments of a call, or the reason that they are invalid; then `value` is `{}`. */
export type CallInput = { ok: true; value: unknown } | { ok: false; value: unknown; why: string };

/** Deeper than any schema needs; the store's scripts refuse a depth of a thousand. */
const MAX_DEPTH = 100;

/** Reads the JSON text that a model gave as a call's arguments. Pure. */
export function parseInput(text: string): CallInput {
  // Every later step sends the input again.
  if (Buffer.byteLength(text) > LIMITS.callInputBytes) {
    return refused(`the input is larger than ${String(LIMITS.callInputBytes / 1024)} KB`);
  }
  if (text.trim() === '') return { ok: true, value: {} };
  if (isDeeperThan(MAX_DEPTH, text)) return refused('the input is nested too deeply');
  const value = tryParseJson(text);
  if (value === undefined) return refused('the input is no valid JSON');
  // Pages do not show such a key, so people must not decide on it.
  if (hasPrototypeKeys(value)) return refused('the input has a key of prototypes');
  return { ok: true, value };
}

/** Checks an input. A schema whose own code throws refuses the input and does not fail the step. */
export async function checkInput(
  schema: z.ZodType,
  input: CallInput,
): Promise<{ data: unknown } | { why: string }> {
  if (!input.ok) return { why: input.why };
  try {
    const checked = await schema.safeParseAsync(input.value);
    return checked.success ? { data: checked.data } : { why: describeIssues(checked.error.issues) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** Checks the input of a tool's call, which must be an object even if the schema takes any value. */
export async function checkCallInput(
  { inputSchema }: Pick<ToolDefinition, 'inputSchema'>,
  input: CallInput,
): ReturnType<typeof checkInput> {
  const checked = await checkInput(inputSchema, input);
  if ('why' in checked || isObject(input.value)) return checked;
  return { why: 'the input must be an object' };
}

/** Returns the schema of a tool's input as models get it. */
export function inputSchemaOf({ forModel, inputSchema }: ToolDefinition): Schema {
  return asSchema(forModel?.inputSchema ?? inputSchema);
}

function refused(why: string): CallInput {
  return { ok: false, value: {}, why };
}

function describeIssues(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) =>
      path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
    )
    .join('; ');
}
