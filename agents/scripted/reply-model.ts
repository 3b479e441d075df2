import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Content,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
  APICallError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4Prompt,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { sleep } from '../../protocol/time.js';

/** Settings of a model without a provider. */
export interface ReplyModelConfig {
  readonly provider: string;
  readonly modelId: string;
  /** Decides from the call alone: without a memory, any process can take the next call. */
  readonly toReply: (options: LanguageModelV4CallOptions) => Reply;
}

/**
 * Creates an AI SDK language model that generates its own replies. It streams, fails, and aborts
 * like a provider's, so it goes through the same code.
 */
export function createReplyModel(config: ReplyModelConfig): LanguageModelV4 {
  const { provider, modelId, toReply } = config;

  async function doStream(
    options: LanguageModelV4CallOptions,
  ): Promise<LanguageModelV4StreamResult> {
    const reply = toReply(options);
    const left = new AbortController();
    // A combined signal leaves no listener on the caller's signal, which may outlive many calls.
    const signal = AbortSignal.any([
      left.signal,
      ...(options.abortSignal ? [options.abortSignal] : []),
    ]);
    const { failure, hangMs } = reply;
    if (failure?.afterPieces === 0) {
      await pause(hangMs, signal);
      throw toProviderFailure(failure);
    }
    signal.throwIfAborted();
    const parts = toReplyParts(reply, { modelId, prompt: options.prompt });
    return { stream: toReplyStream(parts, signal, left) };
  }

  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    doStream,
    doGenerate: async (options) => readReply((await doStream(options)).stream),
  };
}

/**
 * Parts waiting for a slow reader. Like the buffers of a socket: the model keeps its pace while the
 * reader is busy for a moment, but does not run ahead without bound.
 */
const BUFFERED_PARTS = 256;

/**
 * Creates a model's stream. An abort errors it at once, even with unread parts; a reader that
 * cancels ends the model's work. A part takes one timer and one promise, since a test of load has
 * thousands a second.
 */
function toReplyStream(
  parts: Iterator<DuePart>,
  signal: AbortSignal,
  left: AbortController,
): ReadableStream<Part> {
  let fail = (): void => undefined;
  let wait: NodeJS.Timeout | undefined;
  return new ReadableStream<Part>(
    {
      start(controller) {
        fail = () => {
          clearTimeout(wait);
          controller.error(signal.reason);
        };
        signal.addEventListener('abort', fail, { once: true });
      },
      pull(controller) {
        const next = parts.next();
        if (next.done === true) {
          // An abort does not take away parts of a complete reply that wait for their reader.
          signal.removeEventListener('abort', fail);
          controller.close();
          return undefined;
        }
        const { part, waitMs } = next.value;
        const send = (): void => {
          if (!signal.aborted) controller.enqueue(part());
        };
        const ms = waitMs?.();
        if (ms === undefined) {
          send();
          return undefined;
        }
        const due = new Promise((resolve) => {
          if (ms > 0) wait = setTimeout(resolve, ms);
          else setImmediate(resolve);
        });
        return due.then(send);
      },
      cancel(reason) {
        left.abort(reason);
      },
    },
    { highWaterMark: BUFFERED_PARTS },
  );
}

/**
 * Reads a model's stream to its end, for callers that want the whole reply.
 *
 * @throws the error that the stream carries
 */
async function readReply(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'finish') end = part;
    if (part.type === 'tool-call') content.push(part);
    if (part.type === 'text-start') content.push({ type: 'text', text: '' });
    if (part.type === 'reasoning-start') content.push({ type: 'reasoning', text: '' });
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const open = content.at(-1);
      if (open?.type === 'text' || open?.type === 'reasoning') open.text += part.delta;
    }
  }
  if (end === undefined) throw new Error('The stream of a reply ended without a finish part.');
  return { content, finishReason: end.finishReason, usage: end.usage, warnings: [] };
}

/** One piece of streamed text; the function form is called when the piece is due. */
export type Piece = string | (() => string);

export interface ReplyCall {
  readonly tool: string;
  readonly id: string;
  /** Pieces of the input's JSON text to stream; empty if it is not streamed. */
  readonly inputPieces: readonly string[];
  /** The whole input as JSON text. */
  readonly input: string;
}

/** A provider error in place of the rest of a reply. */
export interface ReplyFailure {
  /** HTTP status of the provider's answer. */
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  /** Pieces streamed before the failure; at 0 the call is refused outright. */
  readonly afterPieces: number;
}

/** One call of a model without a provider: its text, its tool calls, and their pace. */
export interface Reply {
  /** Silence before the first part, in ms. */
  readonly hangMs: number;
  /** Time between two pieces, in ms. */
  readonly everyMs: number;
  readonly think?: string | undefined;
  readonly pieces: readonly Piece[];
  readonly calls: readonly ReplyCall[];
  readonly failure?: ReplyFailure | undefined;
}

/** Creates a reply with these parts; without any, it is empty and immediate. */
export function createReply(parts: Partial<Reply>): Reply {
  return { hangMs: 0, everyMs: 0, pieces: [], calls: [], ...parts };
}

/**
 * Cuts a text into `count` pieces of near-equal length that join to the text. No piece is empty and
 * no code point is split, so a short text gives fewer pieces.
 */
export function cutText(text: string, count: number): string[] {
  const points = Array.from(text);
  const pieces = Math.min(count, points.length);
  return Array.from({ length: pieces }, (_, index) => {
    const from = Math.floor((index * points.length) / pieces);
    const to = Math.floor(((index + 1) * points.length) / pieces);
    return points.slice(from, to).join('');
  });
}

/** Cuts a text into words, each with the white space that follows it. */
export function cutWords(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}

/** Stands for the address of a provider's endpoint. */
export const SCRIPTED_URL = 'scripted:';

/** The call that a reply answers. */
interface ReplyCallInfo {
  readonly modelId: string;
  readonly prompt: LanguageModelV4Prompt;
}

type Part = LanguageModelV4StreamPart;

/** A part that is created when it is due. */
interface DuePart {
  readonly part: () => Part;
  /** Returns the time until it is due, ms; undefined if it follows the part before it at once. */
  readonly waitMs?: (() => number | undefined) | undefined;
}

/** Yields the parts of a reply's stream in a provider's order. */
function* toReplyParts(
  reply: Reply,
  { modelId, prompt }: ReplyCallInfo,
): Generator<DuePart, void, undefined> {
  const { failure, hangMs, everyMs } = reply;
  yield {
    part: () => ({ type: 'stream-start', warnings: [] }),
    waitMs: () => (hangMs > 0 ? hangMs : undefined),
  };
  const id = crypto.randomUUID();
  yield { part: () => ({ type: 'response-metadata', id, timestamp: new Date(), modelId }) };

  const waitMs = createPacer(everyMs);
  const budget = failure?.afterPieces ?? Infinity;
  let sent = 0;
  let characters = 0;
  for (const { part, isPiece } of toContentParts(reply)) {
    // A reply with fewer pieces than `afterPieces` fails at its end.
    if (isPiece && sent === budget) break;
    if (isPiece) sent += 1;
    const count = (): Part => {
      const due = part();
      if (due.type === 'text-delta') characters += due.delta.length;
      return due;
    };
    yield { part: count, waitMs: isPiece ? waitMs : undefined };
  }

  if (failure !== undefined) {
    yield { part: () => ({ type: 'error', error: toProviderFailure(failure) }) };
  }
  yield {
    part: () => ({
      type: 'finish',
      usage: toUsage(prompt, reply, characters),
      finishReason: toFinishReason(reply),
    }),
  };
}

/** A part of the content. Pieces are paced and counted; other parts follow them. */
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
function toProviderFailure({ status, retryAfterMs }: ReplyFailure): APICallError {
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

/** Pieces sent without a wait before the process's other work gets a turn. */
const BURST = 64;

/** Resolves after `ms`; rejects at once with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await sleep(ms, signal);
  signal.throwIfAborted();
}

/**
 * Creates a clock for pieces: each call returns the time until the next piece is due, the first at
 * once. Due times count from the first, so lateness does not add up.
 */
function createPacer(everyMs: number): () => number | undefined {
  let count = 0;
  let start = 0;
  return () => {
    const index = count++;
    if (index === 0) start = performance.now();
    const ms = Math.ceil(start + index * everyMs - performance.now());
    if (ms > 0) return ms;
    // Without this a long text without pauses would block the event loop, and so its own abort.
    return index % BURST === BURST - 1 ? 0 : undefined;
  };
}
