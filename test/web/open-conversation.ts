import type { UIMessage } from 'ai';
import type { Snapshot } from '../../web/src/api-client.js';
import { Conversation, type ConversationOptions } from '../../web/src/conversation.js';
import { textOf } from '../../web/src/message-text.js';
import { usePageChat } from '../../web/src/use-conversation.js';
import { renderHook, untilShown } from '../support/render-hook.js';
import { eventually } from './eventually.js';
import type { WireServer } from './wire-server.js';

/** Opens a conversation as a page shows it, on a scripted server, with instant retries. */
export async function openConversation(
  server: WireServer,
  snapshot?: Snapshot,
  patience?: ConversationOptions['patience'],
): Promise<Conversation> {
  const conversation = new Conversation({
    sessionId: 's1',
    agent: 'lab',
    snapshot,
    send: server.send,
    renderEveryMs: 0,
    patience: { retryDelayMs: () => 0, ...patience },
  });
  const page = renderHook(() => usePageChat(conversation), undefined);
  await untilShown(page);
  return conversation;
}

/** Waits until the conversation neither receives nor recovers. */
export async function atRest(conversation: Conversation): Promise<void> {
  const busy = ['submitted', 'streaming'];
  await eventually(
    () => !busy.includes(conversation.chat.status) && !conversation.page.get().reconnecting,
  );
}

export function shown({ chat }: Conversation): string[] {
  return chat.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** Returns the first POST's messages, as a server that took it stores them. */
export function taken(server: WireServer): UIMessage[] {
  return server.named('POST')[0]?.body.messages ?? [];
}
