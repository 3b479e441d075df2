import { setTimeout as delay } from 'node:timers/promises';
import {
  type Call,
  type Identity,
  type RouteDeps,
  streamReply,
  untilExpiry,
} from '../../../api/extension.js';
import {
  decideReply,
  StreamBrokenError,
  toReplyHeaders,
  type HandleChatStreamParams,
  type StreamedReply,
} from '../../../ai-sdk/index.js';
import { HelixError } from '../../../protocol/errors.js';
import type { CompletionDelta, CompletionRequest } from './protocol.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import {
  readAnswerable,
  readOwnCalls,
  readParts,
  requireTaken,
  toUsageSince,
  type ReplyEnd,
} from '../replies.js';
import {
  CompletionParts,
  toCompletion,
  toCompletionChunk,
  toCompletionEnd,
  type CompletionEnd,
  type CompletionHead,
} from './completion.js';
import { hashOf } from './conversation.js';
import { SHOULD_RETRY, toCompletionProblem, toRunProblem } from './problem.js';

/** A non-streamed reply that breaks off is read again from its beginning, at most this many times. */
const MAX_TRIES = 10;
const TRY_AGAIN_MS = 200;

type CompletionCallOf = Pick<
  Call<'caller', undefined, undefined, never>,
  'deps' | 'response' | 'caller'
>;

export interface Asked {
  params: HandleChatStreamParams;
  before: SessionCalls | undefined;
  request: CompletionRequest;
}

/** Replies with a completion, streamed or whole. A disconnecting client never stops the run. @throws HelixError */
export async function replyCompletion(call: CompletionCallOf, asked: Asked): Promise<void> {
  const { deps, response } = call;
  const { sessionId } = asked.params;
  response.set(toReplyHeaders(sessionId));
  const decided = await decide(deps, asked);
  const headers = toReplyHeaders(sessionId, decided);
  response.set(headers);
  const head = {
    id: toCompletionId(asked.params),
    created: Math.floor(Date.now() / 1_000),
    model: asked.request.model,
  };
  if (asked.request.stream === true) {
    const frames = (signal: AbortSignal) => streamFrames(call, asked, { head, decided, signal });
    await streamReply(call, frames, { sessionId, headers });
    return;
  }
  const left = new AbortController();
  response.once('close', () => left.abort());
  const whole = await readWhole(deps, asked, { decided, signal: left.signal });
  if (whole === undefined) return;
  if (whole.end.kind === 'failed') {
    // Without a key a retry would begin another conversation and fail again.
    response.status(502).set(SHOULD_RETRY, 'false').json(toRunProblem(whole.end));
    return;
  }
  const end = await readEnd(deps, call.caller, asked, whole.end);
  response.json(toCompletion(head, whole.deltas, end));
}

/**
 * Returns the id of a completion, derived from the request's content. A run that asks questions has several
 * completions, and programs keep messages by id; a repeated request gets the same id.
 */
function toCompletionId({ sessionId, messages }: HandleChatStreamParams): string {
  const brought = messages.map((message) => (message.role === 'user' ? message.id : message));
  return `chatcmpl-${hashOf([sessionId, brought])}`;
}

async function decide(deps: RouteDeps, { params }: Asked): Promise<StreamedReply> {
  const decided = await decideReply(deps, params);
  if (decided.kind === 'stream') {
    requireTaken(decided);
    return decided;
  }
  if (decided.kind === 'refused') throw decided.error;
  throw new HelixError('nothing_to_do', 'There is no new message and no answer in this request.');
}

interface Reading {
  decided: StreamedReply;
  signal: AbortSignal;
}

async function* streamFrames(
  { deps, caller }: CompletionCallOf,
  asked: Asked,
  { head, decided, signal }: Reading & { head: CompletionHead },
): AsyncGenerator<string, void, undefined> {
  const hasUsage = asked.request.stream_options?.include_usage === true;
  const format = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
  const write = (delta: CompletionDelta): string =>
    format(toCompletionChunk(head, delta, { hasUsage }));
  const parts = new CompletionParts();
  yield write({ role: 'assistant', content: '' });
  try {
    const frames = untilExpiry(decided.frames, { deps, caller });
    for await (const arrived of readParts(frames, signal)) {
      const deltas = arrived.flatMap((part) => parts.accept(part) ?? []);
      if (deltas.length > 0) yield deltas.map(write).join('');
    }
  } catch (error) {
    // Sent deltas cannot be withdrawn, so the program gets an error and asks again.
    const message = 'The reply broke off; send the request again.';
    yield format(toCompletionProblem({ message, code: 'unavailable' }));
    throw new StreamBrokenError('the reply broke off', [], { cause: error });
  }
  if (signal.aborted || parts.end === undefined) return;
  if (parts.end.kind === 'failed') {
    yield format(toRunProblem(parts.end));
    return;
  }
  const end = await readEnd(deps, caller, asked, parts.end);
  const calls = end.calls.map((each, index) => ({ index, ...each }));
  if (calls.length > 0) yield write({ tool_calls: calls });
  yield format(toCompletionChunk(head, {}, { finish: end.finish, hasUsage }));
  if (hasUsage) {
    yield format({ ...head, object: 'chat.completion.chunk', choices: [], usage: end.usage });
  }
  yield 'data: [DONE]\n\n';
}

/** @returns undefined if the client has left */
async function readWhole(
  deps: RouteDeps,
  asked: Asked,
  { decided, signal }: Reading,
): Promise<{ deltas: CompletionDelta[]; end: ReplyEnd } | undefined> {
  let reply = decided;
  for (let tries = 1; ; tries += 1) {
    const parts = new CompletionParts();
    const deltas: CompletionDelta[] = [];
    try {
      for await (const arrived of readParts(reply.frames, signal)) {
        deltas.push(...arrived.flatMap((part) => parts.accept(part) ?? []));
      }
      if (signal.aborted || parts.end === undefined) return undefined;
      return { deltas, end: parts.end };
    } catch (error) {
      if (!(error instanceof StreamBrokenError)) throw error;
      if (error.cause !== undefined) throw error.cause as Error;
      if (tries === MAX_TRIES) throw error;
      await delay(TRY_AGAIN_MS);
      // Deciding again is idempotent: the same messages and answers get the same turn.
      reply = await decide(deps, asked);
    }
  }
}

async function readEnd(
  deps: RouteDeps,
  caller: Identity,
  { params, before }: Asked,
  end: Extract<ReplyEnd, { kind: 'finished' }>,
): Promise<CompletionEnd> {
  const session = await readOwnCalls(deps, params.sessionId, caller);
  const pending = await readAnswerable(deps, caller, session);
  return toCompletionEnd(params.sessionId, end, { pending, usage: toUsageSince(session, before) });
}
