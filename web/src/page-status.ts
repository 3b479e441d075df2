import { isToolUIPart, type ChatStatus, type UIMessage } from 'ai';
import type { PageState } from './page-store.js';
import { isPageCall } from './tool-state.js';

export type PageStatus =
  'loading' | 'ready' | 'thinking' | 'streaming' | 'stopping' | 'waiting' | 'reconnecting';

/** The page's state in one word, from what the chat and the page know. */
export function pageStatus(
  chat: ChatStatus,
  page: Pick<PageState, 'reconnecting' | 'stopping'> &
    Partial<Pick<PageState, 'following' | 'pending'>>,
  newest: UIMessage | undefined,
): PageStatus {
  if (page.reconnecting) return 'reconnecting';
  if (chat === 'submitted' || chat === 'streaming') {
    if (page.stopping) return 'stopping';
    return chat === 'streaming' ? 'streaming' : 'thinking';
  }
  if (page.following === true) return 'thinking';
  return asks(newest, page.pending ?? []) ? 'waiting' : 'ready';
}

function asks(message: UIMessage | undefined, pending: PageState['pending']): boolean {
  return (message?.parts ?? []).some(
    (part) =>
      isToolUIPart(part) && (part.state === 'approval-requested' || isPageCall(part, pending)),
  );
}
