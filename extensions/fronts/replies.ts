import { createParser } from 'eventsource-parser';
import type { Frames, RouteDeps } from '../../api/extension.js';
import {
  findSession,
  isOwner,
  judged,
  toPendingQuestions,
  type Caller,
  type RejectedIntent,
  type StreamedReply,
  type UIStreamPart,
} from '../../ai-sdk/index.js';
import { toAnswerError, type AnswerRefusal } from '../../protocol/answers.js';
import type { PendingQuestion } from '../../protocol/replies.js';
import type { RunUsage } from '../../store/contract/runs.js';
import type { SessionCalls } from '../../store/contract/sessions.js';

/**
 * The parts of a reply, those that arrived together at once. A reply of the AI SDK's stream is the one
 * source for other protocols, so that all of them show the same.
 *
 * @throws the error that breaks the reply off
 */
export async function* readParts(
  frames: Frames,
  signal: AbortSignal,
): AsyncGenerator<UIStreamPart[], void, undefined> {
  let parts: UIStreamPart[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') parts.push(JSON.parse(data) as UIStreamPart);
    },
  });
  const decoder = new TextDecoder();
  for await (const frame of frames(signal)) {
    parser.feed(typeof frame === 'string' ? frame : decoder.decode(frame, { stream: true }));
    if (parts.length === 0) continue;
    const arrived = parts;
    parts = [];
    yield arrived;
  }
}

export type ReplyEnd =
  | {
      kind: 'finished';
      reason: Extract<UIStreamPart, { type: 'finish' }>['finishReason'];
      /** The agent's output, if it has a schema for one. */
      output?: unknown;
    }
  | { kind: 'failed'; message: string; code: string };

/** Reads from the parts of a reply how it ends. */
export class ReplyEnding {
  #code = 'internal_error';
  #output: unknown;
  #end: ReplyEnd | undefined;

  get end(): ReplyEnd | undefined {
    return this.#end;
  }

  accept(part: UIStreamPart): void {
    if (part.type === 'error') {
      this.#end ??= { kind: 'failed', message: part.errorText, code: this.#code };
    } else if (part.type === 'finish') {
      this.#end ??= { kind: 'finished', reason: part.finishReason, output: this.#output };
    } else if (part.type === 'data-output' && 'data' in part) {
      this.#output = part.data;
    } else if (part.type === 'data-error' && 'data' in part) {
      // The message of this failure follows in an `error` part.
      const { code } = part.data as { code?: unknown };
      if (typeof code === 'string') this.#code = code;
    }
  }
}

/** A session's record and open calls; undefined if it does not exist or is another user's. */
export async function readOwnCalls(
  { stateStore: store }: Pick<RouteDeps, 'stateStore'>,
  sessionId: string,
  caller: Caller,
): Promise<SessionCalls | undefined> {
  const { storedId } = await findSession(store, sessionId, caller);
  const found = await store.sessions.withCalls(storedId);
  return isOwner(found?.record, caller) ? found : undefined;
}

/** The questions that this caller may answer. */
export async function readAnswerable(
  deps: Pick<RouteDeps, 'authorize' | 'executor'>,
  caller: Caller,
  session: SessionCalls | undefined,
): Promise<PendingQuestion[]> {
  if (session?.record.stream !== 'paused') return [];
  const { openCalls } = await judged(deps, caller, session);
  return toPendingQuestions(openCalls).filter(({ mayDecide }) => mayDecide !== false);
}

/** What a run has used since `before`, which may be of an earlier run. Pure. */
export function toUsageSince(
  session: SessionCalls | undefined,
  before: SessionCalls | undefined,
): RunUsage {
  const { runId, usage: now = { inputTokens: 0, outputTokens: 0 } } = session?.record ?? {};
  const was = before?.record.runId === runId ? before?.record.usage : undefined;
  const since = (
    name: 'inputTokens' | 'outputTokens' | 'cachedTokens' | 'reasoningTokens',
  ): number => (now[name] ?? 0) - (was?.[name] ?? 0);
  return {
    inputTokens: since('inputTokens'),
    outputTokens: since('outputTokens'),
    cachedTokens: since('cachedTokens'),
    reasoningTokens: since('reasoningTokens'),
  };
}

/**
 * A chat page reads in the stream why its answers were not taken; clients of other protocols would take
 * such a stream for a reply.
 *
 * @throws HelixError why the first answer was not taken, if the reply says nothing else
 */
export function requireTaken({ rejected = [] }: StreamedReply): void {
  const [first] = rejected;
  if (first !== undefined) throw toAnswerError(REFUSALS[first.reason]);
}

const REFUSALS: Record<RejectedIntent['reason'], AnswerRefusal> = {
  'stale-run': 'stale_run',
  'not-pending': 'not_pending',
  'already-completed': 'already_completed',
  'kind-mismatch': 'kind_mismatch',
  expired: 'expired',
};
