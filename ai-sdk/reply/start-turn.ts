import { toRefusal } from '../../runs/refusals.js';
import { type Actor, toPerson } from '../../protocol/actor.js';
import type { BeginInput, RunRecord, UserMessage } from '../../store/contract/runs.js';
import { replayTurn, streamSpan, toReader } from './attach-turn.js';
import { createAwaitedFrames } from '../turns/awaited-turn.js';
import type { Chat, ChatReply } from './types.js';
import { toActor } from './access.js';
import { answeredBefore, notFound, isOvertaken } from './refusals.js';
import { classifyRepeat, type Classified } from './classify.js';

/** The effect of new messages on an active run. */
export type Policy = Pick<BeginInput, 'policy' | 'interrupts' | 'withdraws'>;

/** Begins a turn, or replays the turn of messages that were accepted before. */
export async function startTurn(
  chat: Chat,
  { agent, messages, ...policy }: Policy & { agent: string; messages: readonly UserMessage[] },
): Promise<ChatReply> {
  const { deps, sessionId, caller } = chat;
  const { userId: owner, tenantId: tenant, ...known } = caller;
  const result = await deps.executor.execute({
    sessionId,
    agent,
    owner,
    tenant,
    messages: [...messages],
    by: owner,
    askers: [toPerson(owner, { ...known, tenantId: tenant })],
    ...policy,
  });
  switch (result.kind) {
    case 'begun':
      return streamTurn(chat, result.run);
    case 'queued':
    case 'interrupting':
      return awaitTurn(chat, messages, result.sequence);
    case 'steered':
      return { ...awaitTurn(chat, messages, result.sequence), runId: result.runId };
    case 'accepted':
      return repeatTurn(chat, messages);
    default:
      throw toRefusal(sessionId, result);
  }
}

/** Streams a turn that has just begun, from its first part to its next stop. */
function streamTurn(chat: Chat, run: RunRecord): ChatReply {
  const { sessionId, messageId, startSequence: from, runId } = run;
  const until = { kind: 'live', after: from } as const;
  const span = { sessionId, messageId, from, until, isTail: false, ...toReader(chat) };
  return streamSpan(chat, span, runId);
}

/** Streams the reply to waiting messages once their turn begins. */
function awaitTurn(chat: Chat, messages: readonly UserMessage[], after: number): ChatReply {
  const { deps, sessionId } = chat;
  const awaited = { sessionId, messageIds: messages.map(({ id }) => id), after };
  const reader = toReader(chat);
  return { kind: 'stream', frames: (signal) => createAwaitedFrames(deps, awaited, reader, signal) };
}

/** Answers messages accepted before: they still wait, or they began the newest turn. */
async function repeatTurn(chat: Chat, messages: readonly UserMessage[]): Promise<ChatReply> {
  const view = await chat.deps.stateStore.sessions.view(chat.sessionId, undefined, 'turn');
  if (view === undefined) throw notFound();
  const { record, rows, queue } = view;
  const ids = new Set(messages.map(({ id }) => id));
  const isWaiting = queue.some((entry) => entry.messages.some(({ id }) => ids.has(id)));
  if (isWaiting) return awaitTurn(chat, messages, record.sequence);
  const isOfNewest = rows.some((row) => row.role === 'user' && ids.has(row.id));
  if (!isOfNewest) throw answeredBefore();
  return replayTurn(chat, view);
}

/** Repeats the message's turn, or the newest; shows another request's repetition of it instead. */
export async function regenerateTurn(
  chat: Chat,
  { messageId, stops }: Extract<Classified, { kind: 'regenerate' }>,
): Promise<ChatReply> {
  const { deps, sessionId } = chat;
  try {
    const retry = { sessionId, messageId, stops: stops?.runId, ...actorOf(chat) };
    return streamTurn(chat, await deps.executor.retry(retry));
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const view = await deps.stateStore.sessions.view(sessionId);
    const repeat = view && classifyRepeat(messageId, view);
    if (view === undefined || repeat === undefined) throw error;
    if (repeat.kind === 'refuse') throw repeat.error;
    return replayTurn(chat, view);
  }
}

/**
 * Begins a turn with another version of a user message, and drops everything from that message on
 * for good.
 *
 * @throws HelixError `agent_already_running` while a run answers something else, or messages wait
 */
export async function editTurn(
  chat: Chat,
  { messageId, messages: sent, stops }: Extract<Classified, { kind: 'edit' }>,
): Promise<ChatReply> {
  const { deps, sessionId } = chat;
  const messages = sent.map((message) => (message.id === messageId ? asEdited(message) : message));
  const retry = { sessionId, messageId, messages, stops: stops?.runId, ...actorOf(chat) };
  return streamTurn(chat, await deps.executor.retry(retry));
}

function asEdited(message: UserMessage): UserMessage {
  const { row } = message;
  return row.role === 'user' ? { ...message, row: { ...row, edited: true } } : message;
}

function actorOf({ params, caller }: Chat): Actor {
  return { by: caller.userId, ...toActor(params) };
}
