import { toBeginRefusal } from '../../runs/refusals.js';
import { toPerson } from '../../protocol/responder.js';
import type { BeginInput, RunRecord, UserMessage } from '../../store/contract/runs.js';
import type { SessionView, SessionRecord } from '../../store/contract/sessions.js';
import { replayTurn, streamSpan, toReader } from './attach-turn.js';
import { createAwaitedFrames } from '../turns/awaited-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { toCaller, toActor } from './access.js';
import { answeredBefore, notFound, isOvertaken } from './refusals.js';
import { classifyRepeat, type Ask } from './classify.js';

/** The effect of new messages on an active run. */
export type Policy = Pick<BeginInput, 'policy' | 'interrupts'>;

/** Begins a turn, or replays the turn of messages that were accepted before. */
export async function startTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { agent, messages, ...policy }: Policy & { agent: string; messages: readonly UserMessage[] },
): Promise<ChatReply> {
  const { sessionId } = params;
  const { userId: owner, tenantId: tenant, ...known } = toCaller(params);
  const result = await deps.executor.execute({
    sessionId,
    agent,
    owner,
    tenant,
    messages: [...messages],
    ...policy,
    by: owner,
    askers: [toPerson(owner, { ...known, tenantId: tenant })],
  });
  switch (result.kind) {
    case 'begun':
      return streamTurn(deps, params, result.run);
    case 'queued':
    case 'interrupting':
      return awaitTurn(deps, params, messages, result.sequence);
    case 'steered':
      return { ...awaitTurn(deps, params, messages, result.sequence), runId: result.runId };
    case 'accepted':
      return repeatTurn(deps, params, messages);
    default:
      throw toBeginRefusal(sessionId, result);
  }
}

/** Streams a turn that has just begun, from its first part to its next stop. */
function streamTurn(deps: ChatDeps, params: HandleChatStreamParams, run: RunRecord): ChatReply {
  const { sessionId, messageId, startSequence: from } = run;
  const until = { kind: 'live', after: from } as const;
  const reader = toReader(deps, params);
  return streamSpan(deps, { sessionId, messageId, from, until, isTail: false, ...reader }, run);
}

/** Streams the reply to waiting messages once their turn begins. */
function awaitTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  messages: readonly UserMessage[],
  after: number,
): ChatReply {
  const { sessionId } = params;
  const messageIds = messages.map(({ id }) => id);
  const awaited = { sessionId, messageIds, after };
  const reader = toReader(deps, params);
  return { kind: 'stream', frames: (signal) => createAwaitedFrames(deps, awaited, reader, signal) };
}

/** Answers messages accepted before: they still wait, or they began the newest turn. */
async function repeatTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  messages: readonly UserMessage[],
): Promise<ChatReply> {
  const view = await deps.stateStore.sessions.view(params.sessionId);
  if (view === undefined) throw notFound();
  if (isWaiting(view, messages)) return awaitTurn(deps, params, messages, view.record.sequence);
  if (!isOfNewestTurn(view, messages)) throw answeredBefore();
  return replayTurn(deps, params, view);
}

function isWaiting({ queue }: SessionView, messages: readonly UserMessage[]): boolean {
  const ids = new Set(messages.map(({ id }) => id));
  return queue.some((entry) => entry.messages.some(({ id }) => ids.has(id)));
}

function isOfNewestTurn({ record, rows }: SessionView, messages: readonly UserMessage[]): boolean {
  const ids = new Set(messages.map(({ id }) => id));
  return rows.slice(record.turnStartRow).some((row) => row.role === 'user' && ids.has(row.id));
}

/** Repeats the message's turn, or the newest; shows another request's repetition of it instead. */
export async function regenerateTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { messageId, stops }: Extract<Ask, { kind: 'regenerate' }>,
): Promise<ChatReply> {
  const { sessionId } = params;
  try {
    const by = toCaller(params).userId;
    if (stops !== undefined) await stopRun(deps, params, stops);
    const retry = { sessionId, by, messageId, ...toActor(params) };
    return streamTurn(deps, params, await deps.executor.retry(retry));
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const view = await deps.stateStore.sessions.view(sessionId);
    const repeat = view && classifyRepeat(messageId, view);
    if (view === undefined || repeat === undefined) throw error;
    if (repeat.kind === 'refuse') throw repeat.error;
    return replayTurn(deps, params, view);
  }
}

/** Longest wait for a stopped run, ms; without its worker, it is ended after 2 s. */
const STOPPED_WITHIN_MS = 5_000;

/** Ends the reply that is being written, and waits for its end. */
async function stopRun(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { sessionId, runId, sequence }: SessionRecord,
): Promise<void> {
  const by = toCaller(params).userId;
  const stop = { mode: 'interrupt', runId, reason: 'superseded', by } as const;
  await deps.executor.stop(sessionId, { ...stop, ...toActor(params) });
  const signal = AbortSignal.timeout(STOPPED_WITHIN_MS);
  for await (const entries of deps.streamManager.follow(sessionId, sequence, signal)) {
    if (entries.some(({ message }) => message.type === 'stream_end')) return;
  }
}

/**
 * Begins a turn with another version of a user message, and drops everything from that message on
 * for good.
 *
 * @throws HelixError `agent_already_running` while a run is active; one that waits for people is stopped
 */
export async function editTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  { messageId, messages }: Extract<Ask, { kind: 'edit' }>,
): Promise<ChatReply> {
  const { sessionId } = params;
  const by = toCaller(params).userId;
  return streamTurn(
    deps,
    params,
    await deps.executor.retry({
      sessionId,
      messageId,
      messages: messages.map((message) => (message.id === messageId ? asEdited(message) : message)),
      by,
      ...toActor(params),
    }),
  );
}

function asEdited(message: UserMessage): UserMessage {
  const { row } = message;
  return row.role === 'user' ? { ...message, row: { ...row, edited: true } } : message;
}
