import type { FrontendSnapshot } from '../../protocol/http.js';
import type { ChatMessage } from './chat-message.js';

/** A chat, or what `useChat` returns. */
export interface RebuiltChat {
  id: string;
  status: string;
  clearError: () => void;
  resumeStream: () => Promise<void>;
}

/**
 * After a ReplyBrokenError: puts the server's messages in the place of the chat's, and follows the turn
 * from its beginning if it is at work. Right for chats of every version, since the message that broke
 * is taken out first.
 *
 * @returns false if the server knows of no such conversation, or the chat has moved on meanwhile
 * @throws what `loadSnapshot` throws; the chat is as it was
 */
export async function rebuildReply<M extends ChatMessage>(
  chat: RebuiltChat,
  setMessages: (messages: M[]) => void,
  loadSnapshot: () => Promise<Pick<FrontendSnapshot<M>, 'messages' | 'status'> | undefined>,
): Promise<boolean> {
  const snapshot = await loadSnapshot();
  if (snapshot === undefined || isBusy(chat)) return false;
  setMessages(snapshot.messages);
  chat.clearError();
  if (snapshot.status === 'active') await chat.resumeStream();
  return true;
}

export function isBusy({ status }: { status: string }): boolean {
  return status === 'submitted' || status === 'streaming';
}
