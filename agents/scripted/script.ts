import { APICallError } from '@ai-sdk/provider';
import { z } from 'zod';
import { SCRIPTED_URL } from './reply-parts.js';

/** One day; longer waits in a script are mistakes. */
const Wait = z.number().min(0).max(86_400_000);
/** Limits the memory that a user's message can make a worker allocate. */
const PieceCount = z.int().max(100_000);

/** A tool call in a script; an absent id is generated. */
export const ScriptCall = z.object({
  tool: z.string().min(1),
  id: z.string().min(1).optional(),
  args: z.unknown().optional(),
  /** Number of streamed pieces of the JSON of `args`; 0: not streamed. */
  argDeltas: PieceCount.min(0).default(1),
});
export type ScriptCall = z.infer<typeof ScriptCall>;

/** A provider error. */
const ScriptFailure = z.object({
  status: z.int().min(400).max(599),
  retryAfterMs: Wait.optional(),
  /** Pieces streamed before the failure; 0: the call is refused outright. */
  afterDeltas: PieceCount.min(0).default(0),
  /** Number of failing attempts, from the first; absent: all. */
  times: z.int().min(1).optional(),
});

/** Behaviour of one attempt of a model call. */
const attempt = {
  /** Streamed as reasoning, in one piece. */
  think: z.string().optional(),
  /** Streamed as text. */
  say: z.string().optional(),
  /** Number of streamed pieces of the text. Default: 1. */
  deltas: PieceCount.min(1).optional(),
  /** Time between two pieces, in ms. Default: none. */
  everyMs: Wait.optional(),
  /** Silence before the first part, in ms. Default: none. */
  hangMs: Wait.optional(),
  calls: z.array(ScriptCall).optional(),
  /** Input of the call that submits the agent's result. */
  finish: z.unknown().optional(),
  fail: ScriptFailure.optional(),
  /** Makes each piece the wall-clock time of its sending: ms, three decimals, a space. */
  stamp: z.boolean().optional(),
  /** Quotes the roles and texts of the model's conversation as JSON. */
  quote: z.boolean().optional(),
};

/** One model call of a script. Unknown keys are ignored. */
export const ScriptEntry = z.object({
  ...attempt,
  /** Overrides of the entry for attempt n; the last repeats. */
  attempts: z.array(z.object(attempt)).optional(),
});
export type ScriptEntry = z.infer<typeof ScriptEntry>;

/** Returns the unchecked script in a user's message; undefined if the text is no script. */
export function parseScript(text: string): readonly unknown[] | undefined {
  // Most texts are prose, for which an exception would be wasteful.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text) as { script?: unknown };
    return Array.isArray(value.script) ? value.script : undefined;
  } catch {
    // The text is prose that begins with a brace.
    return undefined;
  }
}

/**
 * Returns entry `index` of a script for the given attempt.
 *
 * @throws APICallError with status 400, not retryable, that names the fault in the entry
 */
export function parseScriptEntry(
  script: readonly unknown[],
  index: number,
  attempt: number,
): ScriptEntry {
  const parsed = ScriptEntry.safeParse(script[index]);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => `script[${String(index)}]${path.map(formatKey).join('')}: ${message}`,
    );
    throw toInvalidScript(faults.join('; '));
  }
  const { attempts = [], ...entry } = parsed.data;
  return { ...entry, ...attempts[Math.min(attempt, attempts.length) - 1] };
}

/** Creates the error of a model call without an entry in the script. */
export function toMissingEntry(index: number): APICallError {
  return toInvalidScript(`there is no script[${String(index)}], and the model is called once more`);
}

function formatKey(key: PropertyKey): string {
  return typeof key === 'number' ? `[${String(key)}]` : `.${String(key)}`;
}

/** Creates the error of an invalid script: status 400, not retryable. */
function toInvalidScript(fault: string): APICallError {
  return new APICallError({
    message: `Invalid script: ${fault}`,
    url: SCRIPTED_URL,
    requestBodyValues: {},
    statusCode: 400,
    isRetryable: false,
  });
}
