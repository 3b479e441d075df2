import type { FrontendSnapshot } from '../../protocol/replies.js';
import { type ChatMessage, isAnswered, isAsked, isToolCall, toNewestStep } from './chat-message.js';

/** A chat, or what `useChat` returns. */
export interface RebuiltChat {
  id: string;
  status: string;
  clearError: () => void;
  resumeStream: () => Promise<void>;
}

/**
 * Recovers from a ReplyBrokenError: replaces the chat's messages with the server's, and follows an
 * active turn from its beginning. Works with chats of every version, since it removes the broken
 * message first.
 *
 * @returns false if the server has no such conversation, or the chat became busy meanwhile
 * @throws errors of `loadSnapshot`; the chat is then unchanged
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

/**
 * Returns the server's messages with what may exist only on the page: answers to calls that the
 * server still asks for, and a last message that the server has not accepted.
 */
export function keepUnsent<M extends ChatMessage>(server: readonly M[], local: readonly M[]): M[] {
  const newest = server.at(-1);
  const last = local.at(-1);
  // An unsent message stands behind the reply whose answers are not sent either.
  const reply = local.findLast(({ role }) => role === 'assistant');
  const kept = server.map((message) =>
    message === newest && reply !== undefined ? keepAnswers(message, reply) : message,
  );
  return last !== undefined && isUnsent(server, last) ? [...kept, last] : kept;
}

/** Returns true for a user's message that the server does not have. */
function isUnsent(server: readonly ChatMessage[], message: ChatMessage): boolean {
  return message.role === 'user' && server.every(({ id }) => id !== message.id);
}

function keepAnswers<M extends ChatMessage>(server: M, local: M): M {
  const answers = new Map(
    toNewestStep(local)
      .parts.filter(isToolCall)
      .filter((part) => part.providerExecuted !== true && isAnswered(part))
      .map((part) => [part.toolCallId, part]),
  );
  const isAskedFor = (part: { type: string }): boolean =>
    isToolCall(part) && part.providerExecuted !== true && isAsked(part);
  if (answers.size === 0 || !server.parts.some(isAskedFor)) return server;
  const parts = server.parts.map((part) =>
    isToolCall(part) && isAskedFor(part) ? (answers.get(part.toolCallId) ?? part) : part,
  );
  return { ...server, parts };
}
