import type { UserMessage } from '../../stores/contract/runs.js';
import type { SessionView } from '../../stores/contract/sessions.js';
import type { ChatDeps } from './chat-deps.js';
import type { ChatReply, HandleChatStreamParams } from './chat-reply.js';
import { toCaller } from './ownership.js';
import { isOvertaken } from './refusals.js';
import { streamTurn } from './start-turn.js';
import { isSameContent } from './user-messages.js';

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
