import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { createCannedReply } from './canned-reply.js';
import { toQuote, toTurn } from './conversation.js';
import { cutText } from './cut-text.js';
import { createReply, type Piece, type Reply, type ReplyCall } from './reply.js';
import { parseScript, parseScriptEntry } from './script.js';
import { ScriptCall, type ScriptEntry } from './script-entry.js';

/**
 * What the scripted model does in a call: entry k of the script in the newest user message, where
 * k counts the model calls of the turn; `done` after the last; a canned reply if there is no script.
 *
 * @throws APICallError with status 400 if the entry is malformed
 */
export function toScriptedReply(options: LanguageModelV4CallOptions): Reply {
  const { userText, calls } = toTurn(options.prompt);
  const script = parseScript(userText);
  if (script === undefined) return createCannedReply(userText);
  if (calls >= script.length) return createReply({ pieces: ['done'] });
  const attempt = toAttempt(options);
  return toEntryReply(parseScriptEntry(script, calls, attempt), attempt, options);
}

/** Which attempt of its step a call is, from 1: the runtime says so in its provider options. */
export function toAttempt({ providerOptions }: LanguageModelV4CallOptions): number {
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
