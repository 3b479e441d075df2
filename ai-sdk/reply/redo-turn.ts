import type { UserMessage } from '../../stores/contract/runs.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import { toActor } from './actor.js';
import { replayTurn } from './attach-turn.js';
import { classifyRepeat, type Ask } from './classify.js';
import { isOvertaken } from './refusals.js';
import { streamTurn } from './start-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { toCaller } from './access.js';

/**
 * Does a turn again: the message's, else the newest. If another request has begun to do the same turn
 * again in the meantime, this one is shown that.
 */
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

/** A run that its worker does not end is ended without it after 2 s. */
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
 * Begins a turn with another version of a user message: what the session has from that message on is
 * dropped for good.
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
