import { useEffect, useSyncExternalStore } from 'react';
import { useHelixChat } from '../../ai-sdk/react/index.js';
import type { Conversation, PageChat } from './conversation.js';
import { usePageVisible } from './page-visibility.js';

/** The chat of a conversation, for as long as the page shows it. */
export function usePageChat(conversation: Conversation): PageChat {
  const { page, sessionId, chatOptions } = conversation;
  const isBound = useSyncExternalStore(page.subscribe, () => page.get().bound);
  const isVisible = usePageVisible();
  const eventsUrl = `/api/chat/${encodeURIComponent(sessionId)}/events`;
  const chat = useHelixChat({
    ...chatOptions,
    eventsUrl: isBound && isVisible ? eventsUrl : undefined,
  });
  useEffect(() => {
    conversation.chat = chat;
  });
  useEffect(
    () => () => {
      void conversation.chat.stop();
    },
    [conversation],
  );
  return chat;
}
