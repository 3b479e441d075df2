import { APICallError } from '@ai-sdk/provider';
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { createPacer, pause } from './pause.js';
import type { Reply, ReplyFailure } from './reply.js';

/** Stands for the address of a provider's endpoint. */
export const SCRIPTED_URL = 'scripted:';

/** The call that a reply answers. */
export interface ReplyCallInfo {
  readonly modelId: string;
  readonly prompt: LanguageModelV4Prompt;
  /** Ends the reply at once, by throwing the signal's reason. */
  readonly signal: AbortSignal;
}

type Part = LanguageModelV4StreamPart;

/** Yields the parts of a reply's stream in a provider's order, each when it is due. */
export async function* toReplyParts(
  reply: Reply,
  { modelId, prompt, signal }: ReplyCallInfo,
): AsyncGenerator<Part, void, undefined> {
  const { failure, hangMs, everyMs } = reply;
  await pause(hangMs, signal);
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'response-metadata', id: crypto.randomUUID(), timestamp: new Date(), modelId };

  const awaitDue = createPacer(everyMs, signal);
  const budget = failure?.afterPieces ?? Infinity;
  let sent = 0;
  let characters = 0;
  for (const { part, isPiece } of toContentParts(reply)) {
    if (isPiece) {
      // A reply with fewer pieces than `afterPieces` fails at its end.
      if (sent === budget) break;
      await awaitDue();
      sent += 1;
    }
    const due = part();
    if (due.type === 'text-delta') characters += due.delta.length;
    yield due;
  }

  if (failure !== undefined) yield { type: 'error', error: toProviderFailure(failure) };
  yield {
    type: 'finish',
    usage: toUsage(prompt, reply, characters),
    finishReason: toFinishReason(reply),
  };
}

/** A part that is created when due. Pieces are paced and counted; other parts follow them. */
interface ContentPart {
  readonly part: () => Part;
  readonly isPiece: boolean;
}

function* toContentParts({ think, pieces, calls }: Reply): Generator<ContentPart> {
  const now = (part: Part): ContentPart => ({ part: () => part, isPiece: false });
  if (think) {
    yield now({ type: 'reasoning-start', id: 'reasoning-1' });
    yield now({ type: 'reasoning-delta', id: 'reasoning-1', delta: think });
    yield now({ type: 'reasoning-end', id: 'reasoning-1' });
  }
  if (pieces.length > 0) {
    yield now({ type: 'text-start', id: 'text-1' });
    for (const piece of pieces) {
      const say = typeof piece === 'string' ? () => piece : piece;
      yield { part: () => ({ type: 'text-delta', id: 'text-1', delta: say() }), isPiece: true };
    }
    yield now({ type: 'text-end', id: 'text-1' });
  }
  for (const { id, tool, input, inputPieces } of calls) {
    if (inputPieces.length > 0) {
      yield now({ type: 'tool-input-start', id, toolName: tool });
      for (const delta of inputPieces) {
        yield { part: () => ({ type: 'tool-input-delta', id, delta }), isPiece: true };
      }
      yield now({ type: 'tool-input-end', id });
    }
    yield now({ type: 'tool-call', toolCallId: id, toolName: tool, input });
  }
}

function toFinishReason({ failure, calls }: Reply): LanguageModelV4FinishReason {
  if (failure !== undefined) return { unified: 'error', raw: String(failure.status) };
  return calls.length > 0
    ? { unified: 'tool-calls', raw: 'tool_calls' }
    : { unified: 'stop', raw: 'stop' };
}

/** The usual rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimates token counts as a provider might report them. */
function toUsage(
  prompt: LanguageModelV4Prompt,
  { think = '', calls }: Reply,
  textCharacters: number,
): LanguageModelV4Usage {
  const input = toTokens(countCharacters(prompt));
  const reasoning = toTokens(think.length);
  const text = toTokens(calls.reduce((sum, call) => sum + call.input.length, textCharacters));
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: text + reasoning, text, reasoning },
  };
}

function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Counts characters in all strings of a value; for long prompts, JSON is slower. */
function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += countCharacters(part);
  return sum;
}

/**
 * Creates the error that a provider's SDK would raise: retryable for 408, 409, 429 and 5xx, with
 * the wait in the header `retry-after-ms`.
 */
export function toProviderFailure({ status, retryAfterMs }: ReplyFailure): APICallError {
  return new APICallError({
    message: `The scripted model failed with status ${String(status)}.`,
    url: SCRIPTED_URL,
    requestBodyValues: {},
    statusCode: status,
    ...(retryAfterMs !== undefined && {
      responseHeaders: { 'retry-after-ms': String(retryAfterMs) },
    }),
  });
}
