import { createContext, useContext, useMemo, useSyncExternalStore } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import type { Conversation } from './conversation.js';
import type { PageState } from './page-store.js';
import { toToolNames, type ToolNames } from './tool-names.js';

/** Gives deeply nested cards the conversation of the page. */
export const CurrentConversation = createContext<Conversation | undefined>(undefined);

/** @throws Error outside of a conversation's page */
export function useCurrentConversation(): Conversation {
  const conversation = useContext(CurrentConversation);
  if (conversation === undefined) throw new Error('There is no conversation around this.');
  return conversation;
}

/** Returns one part of the page's state; renders again only when that part changes. */
export function usePageState<T>(select: (state: PageState) => T): T {
  const { page } = useCurrentConversation();
  return useSyncExternalStore(page.subscribe, () => select(page.get()));
}

/** Returns the open question about a call, once the server has sent it. */
export function useQuestion(toolCallId: string): PendingQuestion | undefined {
  return usePageState(({ pending }) => pending.find((asked) => asked.toolCallId === toolCallId));
}

/** Returns the tool names of the conversation's agent. */
export function useToolNames(): ToolNames {
  const { cards } = useCurrentConversation();
  const agent = usePageState((page) => page.agent);
  return useMemo(() => toToolNames(cards, agent), [cards, agent]);
}
