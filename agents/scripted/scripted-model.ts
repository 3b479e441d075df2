import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { z } from 'zod';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { toQuote, toTurn } from './conversation.js';
import { createReplyModel } from './reply-model.js';
import { createReply, cutText, cutWords, type Piece, type Reply, type ReplyCall } from './reply.js';
import {
  parseScript,
  parseScriptEntry,
  ScriptCall,
  toMissingEntry,
  type ScriptEntry,
} from './script.js';

const PROVIDER = 'helix-scripted';

/** What one call of a model does, or a function that decides it from the call. */
export type ScriptStep =
  | z.input<typeof ScriptEntry>
  | ((options: LanguageModelV4CallOptions) => z.input<typeof ScriptEntry>);

/**
 * The model that needs no key. With a script, its call k in a conversation performs `script[k]`, and a
 * call beyond the last one fails. Without one it performs the script in the newest user message, so
 * that every path of the runtime can be driven from outside; other texts get a short reply that quotes
 * them.
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

/** Calls are counted in the prompt, so that a call that is repeated gets the same reply. */
function toListedReply(script: readonly ScriptStep[], options: LanguageModelV4CallOptions): Reply {
  const index = options.prompt.filter(({ role }) => role === 'assistant').length;
  const step = script[index];
  if (step === undefined) throw toMissingEntry(index);
  const entry: unknown = typeof step === 'function' ? step(options) : step;
  const attempt = toAttempt(options);
  const listed = script.map((other, at) => (at === index ? entry : other));
  return toEntryReply(parseScriptEntry(listed, index, attempt), attempt, options);
}

/** Whether a model is the scripted one. */
export function isScriptedModel(model: unknown): boolean {
  return (
    typeof model === 'object' &&
    model !== null &&
    'provider' in model &&
    model.provider === PROVIDER
  );
}

/**
 * What the scripted model does in a call: entry k of the script in the newest user message, where
 * k counts the model calls of the turn; `done` after the last; a canned reply if there is no script.
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

/** Which attempt of its step a call is, from 1: the runtime says so in its provider options. */
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

/** Wall-clock ms with three decimals and a space: finer than `Date.now()`, for latencies. */
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

/** Code points of the user's text that are quoted. */
const QUOTED = 200;
/** Slow enough to be seen arriving, in ms a word. */
const WORD_MS = 10;

/** What the scripted model says to a text that is no script. */
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
