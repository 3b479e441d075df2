import { isToolUIPart, type ChatStatus, type UIMessage } from 'ai';
import type { PageState } from './page-store.js';

export type PageStatus =
  'loading' | 'ready' | 'thinking' | 'streaming' | 'stopping' | 'waiting' | 'reconnecting';

/** One word for what goes on, from what the chat and the page know. */
export function pageStatus(
  chat: ChatStatus,
  page: Pick<PageState, 'reconnecting' | 'stopping'>,
  newest: UIMessage | undefined,
): PageStatus {
  if (chat === 'submitted' || chat === 'streaming') {
    if (page.stopping) return 'stopping';
    return chat === 'streaming' ? 'streaming' : 'thinking';
  }
  if (page.reconnecting) return 'reconnecting';
  return asksForApproval(newest) ? 'waiting' : 'ready';
}

function asksForApproval(message: UIMessage | undefined): boolean {
  return (message?.parts ?? []).some(
    (part) => isToolUIPart(part) && part.state === 'approval-requested',
  );
}
