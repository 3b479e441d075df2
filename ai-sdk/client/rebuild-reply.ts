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
 * After a ReplyBrokenError: replaces the chat's messages by the server's, and follows the turn from its beginning
 * if it is active. Works with chats of every version, since the broken message is removed first.
 *
 * @returns false if the server has no such conversation, or the chat became busy meanwhile
 * @throws what `loadSnapshot` throws; the chat is unchanged then
 *
 * @example
 * import { Chat, type UIMessage } from '@ai-sdk/react';
 * import { createResumableChatTransport, rebuildReply } from 'helix-temporal/ai-sdk/client';
 *
 * const transport = createResumableChatTransport();
 * const chat = new Chat({ id: 's1', transport });
 * await rebuildReply<UIMessage>(
 *   chat,
 *   (messages) => (chat.messages = messages),
 *   () => transport.loadSnapshot<UIMessage>('s1'),
 * );
 */
export async function rebuildReply<M extends ChatMessage>(
  chat: RebuiltChat,
  setMessages: (messages: M[]) => void,
  loadSnapshot: () => Promise<
    Pick<FrontendSnapshot<Record<string, unknown>, M>, 'messages' | 'status'> | undefined
  >,
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
