import { useEffect, useSyncExternalStore } from 'react';
import { useHelixChat } from '../../ai-sdk/react/index.js';
import type { Conversation, PageChat } from './conversation.js';

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

/** True while the page is visible to its user. */
function usePageVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState === 'visible');
}

function subscribe(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => {
    document.removeEventListener('visibilitychange', onChange);
  };
}
