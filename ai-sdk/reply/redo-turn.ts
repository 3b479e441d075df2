import { AgentAlreadyRunningError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import { isTerminal } from '../../protocol/run.js';
import type { UserMessage } from '../../stores/contract/runs.js';
import type { SessionView } from '../../stores/contract/sessions.js';
import { readProfile, replayTurn } from './attach-turn.js';
import type { ChatDeps, ChatReply, HandleChatStreamParams } from './types.js';
import { isOvertaken, toCaller } from './access.js';
import { streamTurn } from './start-turn.js';
import { isSameContent } from './user-messages.js';

/**
 * Does a turn again: the one that the client names, else that of the user messages it ends with. A
 * client that asks again while that is done is shown it.
 *
 * @returns undefined if the server has never accepted these messages: they are then said for the
 * first time
 */
export async function regenerateTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  said: readonly UserMessage[],
): Promise<ChatReply | undefined> {
  const { sessionId } = params;
  const view = await deps.stateStore.sessions.view(sessionId);
  if (view === undefined) return undefined;
  const messageId = findMessage(view.rows, params.messageId, said);
  if (messageId === undefined && said.length > 0) return undefined;
  const again = await attachAgain(deps, params, view, messageId);
  if (again !== undefined) return again;
  try {
    const run = await deps.executor.retry({
      sessionId,
      by: toCaller(params).userId,
      ...(messageId !== undefined && { messageId }),
    });
    return streamTurn(deps, params, run);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const now = await deps.stateStore.sessions.view(sessionId);
    const other = now && (await attachAgain(deps, params, now, messageId));
    if (other === undefined) throw error;
    return other;
  }
}

/** The message that stands for the turn, if the session has it. */
function findMessage(
  rows: readonly Row[],
  named: string | undefined,
  said: readonly UserMessage[],
): string | undefined {
  const ids = new Set(rows.map(idOf));
  return [named, said.at(-1)?.id].find((id) => id !== undefined && ids.has(id));
}

/** The turn, if it is being done again already; undefined if nothing is at work. */
async function attachAgain(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  view: SessionView,
  messageId: string | undefined,
): Promise<ChatReply | undefined> {
  const { record, rows } = view;
  if (isTerminal(record.status)) return undefined;
  const turn = rows.slice(record.turnStartRow).map(idOf);
  const isMeant = messageId === undefined || turn.includes(messageId);
  if (record.runMode !== 'retry' || !isMeant) {
    // A turn that waits for people is done again without their answers.
    if (record.stream === 'paused') return undefined;
    throw new AgentAlreadyRunningError(record.sessionId);
  }
  return replayTurn(deps, view, readProfile(params));
}

function idOf(row: Row): string | undefined {
  if (row.role === 'tool') return undefined;
  return row.role === 'user' ? row.id : row.messageId;
}

/**
 * Begins a turn with another version of a user message that the client names: what the session has
 * from that message on is dropped for good. Messages before it that the session does not know are
 * said with it.
 *
 * @returns undefined if this is no edit: the session has no such message, or has it just like that
 * @throws AgentAlreadyRunningError while a run is at work; one that waits for people is stopped
 */
export async function editTurn(
  deps: ChatDeps,
  params: HandleChatStreamParams,
  view: SessionView | undefined,
  said: readonly UserMessage[],
): Promise<ChatReply | undefined> {
  const { sessionId, messageId } = params;
  const edited = said.find(({ id }) => id === messageId);
  if (edited === undefined || view === undefined || !isOther(view, edited)) return undefined;
  const stored = new Set(view.rows.map((row) => (row.role === 'user' ? row.id : undefined)));
  try {
    const run = await deps.executor.retry({
      sessionId,
      messageId: edited.id,
      messages: said.filter(({ id }) => id === messageId || !stored.has(id)),
      by: toCaller(params).userId,
    });
    return streamTurn(deps, params, run);
  } catch (error) {
    const now = isOvertaken(error) ? await deps.stateStore.sessions.view(sessionId) : undefined;
    if (now === undefined || isOther(now, edited)) throw error;
    // The same edit, posted twice: it is shown like any message that was accepted before.
    return undefined;
  }
}

/** True if the session has the message with other content. */
function isOther({ rows }: SessionView, message: UserMessage): boolean {
  const known = rows.find((row) => row.role === 'user' && row.id === message.id);
  return known !== undefined && !isSameContent(message, known);
}
