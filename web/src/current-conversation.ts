import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import type { Conversation } from './conversation.js';
import type { PageState } from './page-store.js';
import { toToolNames, type ToolNames } from './tool-names.js';

/** The conversation that the page shows, for the cards deep inside it. */
export const CurrentConversation = createContext<Conversation | undefined>(undefined);

/** @throws Error outside of a conversation's page */
export function useCurrentConversation(): Conversation {
  const conversation = useContext(CurrentConversation);
  if (conversation === undefined) throw new Error('There is no conversation around this.');
  return conversation;
}

/** One part of what the page knows; draws again only when that part changes. */
export function usePageState<T>(select: (state: PageState) => T): T {
  const { page } = useCurrentConversation();
  return useSyncExternalStore(page.subscribe, () => select(page.get()));
}

/** What people are asked about a call, once the server has said so. */
export function useQuestion(toolCallId: string): PendingQuestion | undefined {
  return usePageState(({ pending }) => pending.find((asked) => asked.toolCallId === toolCallId));
}

/** The names of the tools of the conversation's agent. */
export function useToolNames(): ToolNames {
  const { cards } = useCurrentConversation();
  const agent = usePageState((page) => page.agent);
  return useMemo(() => toToolNames(cards, agent), [cards, agent]);
}
