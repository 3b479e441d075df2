import { APICallError } from '@ai-sdk/provider';
import { z } from 'zod';
import { SCRIPTED_URL } from './reply-parts.js';

/** A day: longer waits in a script are mistakes. */
const Wait = z.number().min(0).max(86_400_000);
/** Bounds the memory that a user's message can make a worker allocate. */
const PieceCount = z.int().max(100_000);

/** A tool call that a script makes; an absent id is made up. */
export const ScriptCall = z.object({
  tool: z.string().min(1),
  id: z.string().min(1).optional(),
  args: z.unknown().optional(),
  /** Pieces in which the JSON of `args` is streamed; 0: not streamed at all. */
  argDeltas: PieceCount.min(0).default(1),
});
export type ScriptCall = z.infer<typeof ScriptCall>;

/** A provider error. */
const ScriptFailure = z.object({
  status: z.int().min(400).max(599),
  retryAfterMs: Wait.optional(),
  /** Pieces streamed before it; 0: the call is refused outright. */
  afterDeltas: PieceCount.min(0).default(0),
  /** Attempts that fail, from the first; absent: all of them. */
  times: z.int().min(1).optional(),
});

/** What one attempt of a model call does. */
const attempt = {
  /** Streamed as reasoning, in one piece. */
  think: z.string().optional(),
  /** Streamed as text. */
  say: z.string().optional(),
  /** Pieces in which the text is streamed. Default: 1. */
  deltas: PieceCount.min(1).optional(),
  /** Time between two pieces, in ms. Default: none. */
  everyMs: Wait.optional(),
  /** Silence before the first part, in ms. Default: none. */
  hangMs: Wait.optional(),
  calls: z.array(ScriptCall).optional(),
  /** Input of the call that hands in the agent's result. */
  finish: z.unknown().optional(),
  fail: ScriptFailure.optional(),
  /** Each piece is the wall-clock time at which it was sent: ms, three decimals, a space. */
  stamp: z.boolean().optional(),
  /** Says the roles and texts of the conversation that the model was given, as JSON. */
  quote: z.boolean().optional(),
};

/** What one model call of a script does. Unknown keys are ignored. */
export const ScriptEntry = z.object({
  ...attempt,
  /** What attempt n does differently, laid over the entry; the last repeats. */
  attempts: z.array(z.object(attempt)).optional(),
});
export type ScriptEntry = z.infer<typeof ScriptEntry>;

/** The script in a user's message, its entries unchecked; undefined if the text is not a script. */
export function parseScript(text: string): readonly unknown[] | undefined {
  // Most texts are prose: they are not worth an exception.
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text) as { script?: unknown };
    return Array.isArray(value.script) ? value.script : undefined;
  } catch {
    // Not JSON, so it is prose that begins with a brace.
    return undefined;
  }
}

/**
 * Entry `index` of a script as the given attempt performs it.
 *
 * @throws APICallError with status 400, not retryable, that says what is wrong with the entry
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

/** A model call for which the script has no entry. */
export function toMissingEntry(index: number): APICallError {
  return toInvalidScript(`there is no script[${String(index)}], and the model is called once more`);
}

function formatKey(key: PropertyKey): string {
  return typeof key === 'number' ? `[${String(key)}]` : `.${String(key)}`;
}

/** The error for a script that cannot be performed: status 400, and no retry would help. */
function toInvalidScript(fault: string): APICallError {
  return new APICallError({
    message: `Invalid script: ${fault}`,
    url: SCRIPTED_URL,
    requestBodyValues: {},
    statusCode: 400,
    isRetryable: false,
  });
}
