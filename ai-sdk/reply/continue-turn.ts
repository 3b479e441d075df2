import type { ChunkOf, FinishReason, StreamMessage } from '../../protocol/chunk.js';
import { toAnswerError } from '../../protocol/answers.js';
import { HelixError } from '../../protocol/errors.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { SessionCalls, SessionRecord } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import type { AnswerResult } from '../../runs/record/answers.js';
import { formatSse, SSE_DONE } from '../parts/sse.js';
import { toNoticeEvents } from '../parts/message-events.js';
import type { UIStreamPart } from '../parts/ui-stream-part.js';
import { replayRange } from '../turns/replay-range.js';
import { toTurnSpan, type TurnSpan } from '../turns/turn-progress.js';
import { streamSpan, toReader } from './attach-turn.js';
import { toActor } from './access.js';
import { judged, toAnswerOptions } from './authority.js';
import type { KnownSession } from './classify.js';
import { copyIsBehind } from './refusals.js';
import { toLastStep, type RejectedIntent, type ResumeIntents } from './resume-intent.js';
import type { Chat, ChatReply } from './types.js';

/**
 * Returns the reply to answers that were posted without a new message.
 *
 * @throws HelixError `kind_mismatch` for a call that waits for another kind of answer; the other
 * posted answers are stored
 */
export async function continueTurn(
  chat: Chat,
  session: KnownSession | undefined,
  submission: Submission,
): Promise<ChatReply> {
  const { resumedAt, rejected, stored } = submission;
  const copy = chat.params.messages.findLast(({ role }) => role === 'assistant');
  if (session === undefined) return reject(copy, rejected);
  if (resumedAt !== undefined) {
    const from = await findTailStart(chat.deps.streamManager, session, stored, copy);
    const { record, openCalls = [] } = session;
    const until = { kind: 'live', after: resumedAt } as const;
    const tail = await streamTail(chat, { record, openCalls }, { from, until });
    return withRejections(tail, rejected);
  }
  if (rejected.some(({ reason }) => reason === 'kind-mismatch')) {
    throw toAnswerError('kind_mismatch');
  }
  const tail = await repeatTail(chat, copy, submission);
  if (tail !== undefined) return tail;
  return stored.length > 0
    ? waitForMore(session.record, copy, rejected)
    : reject(copy, rejected, session.record.runId);
}

/** Streams the rest of the turn after the page's position. */
async function streamTail(
  chat: Chat,
  session: SessionCalls,
  tail: { from: number; until?: TurnSpan['until'] },
): Promise<ChatReply> {
  const seen = await judged(chat.deps, chat.caller, session);
  const denied = findDenied(session, chat.params.messages);
  const span = { ...toTurnSpan(seen, toReader(chat)), isTail: true, denied, ...tail };
  return streamSpan(chat, span, session.record.runId);
}

/**
 * Returns calls that were denied before the newest pause, and that the page's copy does not show as denied: the stream
 * may have held these denials. If this pause was the first to ask about a call, the answer follows it.
 */
function findDenied(
  { record, openCalls }: SessionCalls,
  messages: readonly PostedMessage[],
): ReadonlySet<string> {
  const copy = messages.findLast(({ role }) => role === 'assistant');
  const shown = toLastStep(copy).filter(({ state }) => state !== 'output-denied');
  const denied = openCalls.filter(
    ({ row, askedAt = 0 }) =>
      askedAt < record.pauseSequence && row?.role === 'tool' && row.denied === true,
  );
  const ids = denied.map(({ spec }) => spec.toolCallId);
  return new Set(ids.filter((id) => shown.some((part) => part['toolCallId'] === id)));
}

/** Returns a notice: the valid answers are stored, and the run waits for others. */
function waitForMore(
  record: SessionRecord,
  copy: PostedMessage | undefined,
  refused: readonly RejectedIntent[],
): ChatReply {
  return toNotice(record, copy, withoutRepeated(refused), 'tool-calls');
}

/** Puts the rejected answers before the content of a reply. */
export function withRejections(
  reply: ChatReply,
  refused: readonly RejectedIntent[] = [],
): ChatReply {
  const rejected = withoutRepeated(refused);
  if (reply.kind !== 'stream' || rejected.length === 0) return reply;
  const { frames } = reply;
  const told = toRejectedParts(rejected).map((event) => formatSse(event));
  return {
    ...reply,
    frames: async function* (signal) {
      yield told.join('');
      yield* frames(signal);
    },
  };
}

/** Drops answers that were stored before, which every copy of the conversation brings again. */
function withoutRepeated(rejected: readonly RejectedIntent[]): RejectedIntent[] {
  return rejected.filter(({ reason }) => reason !== 'already-completed');
}

function toRejectedParts(rejected: readonly RejectedIntent[] = []): UIStreamPart[] {
  return rejected.map((data) => ({ type: 'data-resume-rejected', data, transient: true }));
}

/** Informs the page that nothing waits for these answers, since only the page can react. */
function reject(
  copy: PostedMessage | undefined,
  rejected: RejectedIntent[],
  runId?: string,
): ChatReply {
  return toNotice({ messageId: copy?.id ?? '', runId }, copy, rejected, 'other');
}

/** @param copy the client's, which decides whether it would post again at once */
function toNotice(
  { messageId, runId }: { messageId: string; runId?: string | undefined },
  copy: PostedMessage | undefined,
  rejected: readonly RejectedIntent[],
  finishReason: FinishReason,
): ChatReply {
  const told = toRejectedParts(rejected);
  const events = toNoticeEvents(messageId, toLastStep(copy), finishReason, told);
  const text = events.map((event) => formatSse(event)).join('') + SSE_DONE;
  const frames = async function* (): AsyncGenerator<string, void, undefined> {
    yield await Promise.resolve(text);
  };
  return { kind: 'stream', runId, rejected, frames };
}

/**
 * Returns the stream after these answers; another client may have answered some of the batch.
 * Returns undefined if the newest turn asked for none of them.
 */
async function repeatTail(
  chat: Chat,
  copy: PostedMessage | undefined,
  { stored, rejected }: Submission,
): Promise<ChatReply | undefined> {
  const { stateStore, streamManager } = chat.deps;
  // This reads again: another client may have answered the rest of the batch since the first read.
  const session = await stateStore.sessions.withCalls(chat.sessionId);
  if (session === undefined) return undefined;
  const { record } = session;
  const calls = new Map<string, string | undefined>(
    stored.map((toolCallId) => [toolCallId, undefined]),
  );
  for (const { toolCallId, runId } of rejected) {
    calls.set(toolCallId, runId && formatApprovalId(runId, toolCallId));
  }
  const from = calls.size === 0 ? undefined : await findPause(streamManager, record, calls);
  if (from === undefined) return undefined;
  if (isAhead(copy, calls)) throw copyIsBehind();
  if (record.stream === 'paused' && record.pauseSequence <= from) {
    return waitForMore(record, copy, rejected);
  }
  return streamTail(chat, session, { from });
}

/**
 * Returns the sequence of the newest turn's pause that asked for the newest of these calls.
 *
 * @param calls with the id of the request that a page answered, which may be an older run's or a sub-agent's
 */
async function findPause(
  log: Pick<StreamManager, 'read'>,
  { sessionId, turnStartSequence, sequence: newest }: SessionRecord,
  calls: ReadonlyMap<string, string | undefined>,
): Promise<number | undefined> {
  let isAsked = false;
  let pause: number | undefined;
  for await (const page of replayRange(log, sessionId, turnStartSequence, newest)) {
    for (const { sequence, message } of page) {
      if (isAsking(message) && calls.has(message.toolCallId) && isNamed(message, calls)) {
        isAsked = true;
        pause = undefined;
      } else if (message.type === 'run_paused' && isAsked) {
        pause ??= sequence;
      }
    }
  }
  return pause;
}

/** Returns true unless the page answered another request of that call. */
function isNamed(message: Question, calls: ReadonlyMap<string, string | undefined>): boolean {
  const approvalId = calls.get(message.toolCallId);
  return approvalId === undefined || ('approvalId' in message && message.approvalId === approvalId);
}

type Question = ChunkOf<'tool_approval_request'> | ChunkOf<'tool_start'>;

/** Returns true for chunks that ask a person or a page. */
function isAsking(message: StreamMessage): message is Question {
  if (message.type === 'tool_start') return message.providerExecuted !== true;
  return message.type === 'tool_approval_request';
}

/** Returns true if the copy has output of a step after the one with the answers. */
function isAhead(copy: PostedMessage | undefined, calls: ReadonlyMap<string, unknown>): boolean {
  const last = toLastStep(copy);
  return last.length > 0 && !last.some((part) => calls.has(String(part['toolCallId'])));
}

export interface Submission {
  /** Ids of calls whose answers were stored. */
  stored: string[];
  /** Sequence at which the run continued, if the answers completed its batch. */
  resumedAt?: number;
  rejected: RejectedIntent[];
}

/**
 * Submits answers one after another; the first answer to a call counts, whichever client sent it.
 *
 * @param session as read for this request; the store's change decides on its current state
 * @throws HelixError for an answer that does not fit its call, after the others were submitted: the
 * call still waits, and only the page can correct it
 */
export async function submitAnswers(
  { deps, params, caller, sessionId }: Chat,
  session: Partial<SessionCalls> | undefined,
  { intents, rejected }: ResumeIntents,
): Promise<Submission> {
  const { userId: by } = params;
  const { record, openCalls } = session ?? {};
  const known = record && openCalls && { record, openCalls };
  const answerer = toAnswerOptions(deps, caller, toActor(params), known);
  const options = { ...answerer, isPosted: true };
  const submission: Submission = { stored: [], rejected: [...rejected] };
  let unfit: HelixError | undefined;
  for (const intent of intents) {
    try {
      const result = await deps.executor.submitToolResult({ sessionId, by, ...intent }, options);
      if (result.kind === 'not_allowed') throw toAnswerError(result.kind);
      // A posted message does not change an input.
      if (result.kind !== 'stored' && result.kind !== 'edited') {
        submission.rejected.push({ toolCallId: intent.toolCallId, reason: REASONS[result.kind] });
        continue;
      }
      submission.stored.push(intent.toolCallId);
      if (result.kind === 'stored' && result.resume !== undefined)
        submission.resumedAt = result.sequence;
    } catch (error) {
      if (!HelixError.isInstance(error) || error.statusCode >= 500) throw error;
      unfit ??= error;
    }
  }
  if (unfit !== undefined) throw unfit;
  return submission;
}

const REASONS: Record<
  Exclude<AnswerResult['kind'], 'stored' | 'edited' | 'not_allowed'>,
  RejectedIntent['reason']
> = {
  already_completed: 'already-completed',
  not_pending: 'not-pending',
  kind_mismatch: 'kind-mismatch',
  stale_run: 'stale-run',
  expired: 'expired',
  late: 'expired',
};

/**
 * Returns the sequence after which a page that answered continues: the newest pause, unless
 * sleeping tools ended since or others were asked about. A page whose copy shows their calls open,
 * or lacks them, has seen nothing after the pause that asked.
 */
async function findTailStart(
  log: Pick<StreamManager, 'read'>,
  { record, openCalls = [] }: KnownSession,
  answered: readonly string[],
  copy: PostedMessage | undefined,
): Promise<number> {
  const newest = record.stream === 'paused' ? record.pauseSequence : record.sequence;
  const asked = openCalls.flatMap(({ spec, askedAt }) =>
    askedAt !== undefined && answered.includes(spec.toolCallId) ? askedAt : [],
  );
  const first = Math.min(newest, ...asked);
  if (first === newest) return newest;
  const states = new Map<unknown, unknown>();
  for (const { state, toolCallId } of (copy?.parts ?? []) as Record<string, unknown>[]) {
    states.set(toolCallId, state);
  }
  for await (const entries of replayRange(log, record.sessionId, first, newest)) {
    for (const { message } of entries) {
      const isEnd = message.type === 'tool_end';
      if (isEnd && states.get(message.toolCallId) === 'input-available') return first;
      const isAsked = isAsking(message) && message.agentId === record.sessionId;
      if (isAsked && !states.has(message.toolCallId)) return first;
    }
  }
  return newest;
}
