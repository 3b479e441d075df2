import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  APICallError,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { tryParseJson } from '../../protocol/limits.js';
import { toQuote, toTurn } from './conversation.js';
import {
  createReplyModel,
  createReply,
  cutText,
  cutWords,
  type Piece,
  type Reply,
  type ReplyCall,
  SCRIPTED_URL,
} from './reply-model.js';

const PROVIDER = 'helix-scripted';

/** One call of a model, or a function that decides it from the call. */
export type ScriptStep =
  | z.input<typeof ScriptEntry>
  | ((options: LanguageModelV4CallOptions) => z.input<typeof ScriptEntry>);

/**
 * Creates the model that needs no key. With a script, its call k in a conversation performs
 * `script[k]`, and a call beyond the last one fails. Without one it performs the script in the
 * newest user message, so that callers can drive every path of the runtime; other texts get a short
 * reply that quotes them.
 *
 * @example
 * import { createScriptedModel } from 'helix-temporal/testing';
 *
 * const model = createScriptedModel([
 *   { calls: [{ tool: 'weather', args: { city: 'Rome' } }] },
 *   { say: 'It is sunny in Rome.' },
 * ]);
 */
export function createScriptedModel(script?: readonly ScriptStep[]): LanguageModelV4 {
  const toReply =
    script === undefined
      ? toScriptedReply
      : (options: LanguageModelV4CallOptions) => toListedReply(script, options);
  return createReplyModel({ provider: PROVIDER, modelId: 'scripted', toReply });
}

/** Counts calls in the prompt, so that a repeated call gets the same reply. */
function toListedReply(script: readonly ScriptStep[], options: LanguageModelV4CallOptions): Reply {
  const index = options.prompt.filter(({ role }) => role === 'assistant').length;
  const step = script[index];
  if (step === undefined) throw toMissingEntry(index);
  const entry: unknown = typeof step === 'function' ? step(options) : step;
  const attempt = toAttempt(options);
  const listed = script.map((other, at) => (at === index ? entry : other));
  return toEntryReply(parseScriptEntry(listed, index, attempt), attempt, options);
}

/** Returns true for the scripted model. */
export function isScriptedModel(model: unknown): boolean {
  return (
    typeof model === 'object' &&
    model !== null &&
    'provider' in model &&
    model.provider === PROVIDER
  );
}

/**
 * Returns the reply of a call: entry k of the script in the newest user message, where k counts the
 * turn's model calls; `done` after the last; a canned reply without a script.
 *
 * @throws APICallError with status 400 if the entry is malformed
 */
function toScriptedReply(options: LanguageModelV4CallOptions): Reply {
  const { userText, calls } = toTurn(options.prompt);
  const script = parseScript(userText);
  if (script === undefined) return createCannedReply(userText);
  if (calls >= script.length) return createReply({ pieces: ['done'] });
  const attempt = toAttempt(options);
  return toEntryReply(parseScriptEntry(script, calls, attempt), attempt, options);
}

/** Returns the attempt of the call's step, from 1, which the provider options carry. */
function toAttempt({ providerOptions }: LanguageModelV4CallOptions): number {
  const attempt = providerOptions?.helix?.attempt;
  return typeof attempt === 'number' && attempt >= 1 ? Math.floor(attempt) : 1;
}

function toEntryReply(
  entry: ScriptEntry,
  attempt: number,
  { prompt }: LanguageModelV4CallOptions,
): Reply {
  const { fail, hangMs = 0, everyMs = 0, think } = entry;
  const text = entry.quote ? toQuote(prompt) : entry.say;
  const fails = fail !== undefined && attempt <= (fail.times ?? Infinity);
  return {
    hangMs,
    everyMs,
    think,
    pieces: toPieces(text ?? '', entry),
    calls: toCalls(entry),
    failure: fails ? { ...fail, afterPieces: fail.afterDeltas } : undefined,
  };
}

function toPieces(text: string, { deltas = 1, stamp }: ScriptEntry): Piece[] {
  return stamp ? Array.from({ length: deltas }, () => formatNow) : cutText(text, deltas);
}

/** Formats wall-clock ms with three decimals and a space; finer than `Date.now()`. */
function formatNow(): string {
  return `${(performance.timeOrigin + performance.now()).toFixed(3)} `;
}

function toCalls({ calls = [], finish }: ScriptEntry): ReplyCall[] {
  const result = { tool: FINISH_TOOL_NAME, args: finish };
  return [...calls, ...(finish === undefined ? [] : [ScriptCall.parse(result)])].map(toReplyCall);
}

function toReplyCall({ tool, id, args = {}, argDeltas }: ScriptCall): ReplyCall {
  const input = JSON.stringify(args);
  return {
    tool,
    id: id ?? `call-${crypto.randomUUID()}`,
    input,
    inputPieces: cutText(input, argDeltas),
  };
}

/** Maximum number of quoted code points of the user's text. */
const QUOTED = 200;
/** Pace that makes the arrival visible, ms per word. */
const WORD_MS = 10;

/** Creates the reply to a text that is no script. */
function createCannedReply(userText: string): Reply {
  const words = userText.replace(/\s+/g, ' ').trim();
  const points = Array.from(words);
  const quoted = points.length > QUOTED ? `${points.slice(0, QUOTED).join('')}…` : words;
  const text =
    quoted === ''
      ? 'You said nothing that I could quote.'
      : `You said: “${quoted}”. I follow scripts; send me one as JSON and I will perform it.`;
  return createReply({ pieces: cutWords(text), everyMs: WORD_MS });
}

/** One day; longer waits in a script are mistakes. */
const Wait = z.number().min(0).max(86_400_000);
/** Limits the memory that a user's message can make a worker allocate. */
const PieceCount = z.int().max(100_000);

/** A tool call in a script; an absent id is generated. */
const ScriptCall = z.object({
  tool: z.string().min(1),
  id: z.string().min(1).optional(),
  args: z.unknown().optional(),
  /** Number of streamed pieces of the JSON of `args`; 0: not streamed. */
  argDeltas: PieceCount.min(0).default(1),
});
type ScriptCall = z.infer<typeof ScriptCall>;

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
const ScriptEntry = z.object({
  ...attempt,
  /** Overrides of the entry for attempt n; the last repeats. */
  attempts: z.array(z.object(attempt)).optional(),
});
type ScriptEntry = z.infer<typeof ScriptEntry>;

/** Returns the unchecked script in a user's message; undefined if the text is no script. */
function parseScript(text: string): readonly unknown[] | undefined {
  // Most texts are prose, for which an exception would be wasteful.
  if (!text.trimStart().startsWith('{')) return undefined;
  // Prose may begin with a brace too.
  const { script } = tryParseJson(text, {}) as { script?: unknown };
  return Array.isArray(script) ? script : undefined;
}

/**
 * Returns entry `index` of a script for the given attempt.
 *
 * @throws APICallError with status 400, not retryable, that names the fault in the entry
 */
function parseScriptEntry(script: readonly unknown[], index: number, attempt: number): ScriptEntry {
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
function toMissingEntry(index: number): APICallError {
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
