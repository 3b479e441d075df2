import type { UIMessage, UseChatHelpers } from '@ai-sdk/react';
import { useCallback, useEffect, useRef } from 'react';
import { ChatRequestError, ReplyBrokenError, isNetworkError } from '../client/errors.js';
import { isBusy } from '../client/rebuild-reply.js';
import { toPatience } from '../client/patience.js';
import { BROKEN_OFF } from '../parts/errors.js';
import { findAnswered, type SendAutomaticallyWhen } from '../client/send-automatically.js';
import { useLatest } from './use-latest.js';
import { type SnapshotLoader, useRefresh, type Refreshing } from './use-refresh.js';

/**
 * Refreshes the chat when part of the shown reply was withdrawn, and when the network returns after
 * a reply broke off. Adds a manual `retry`.
 */
export function useRecovery<M extends UIMessage>(
  chat: UseChatHelpers<M>,
  load: SnapshotLoader<M> | undefined,
  when: SendAutomaticallyWhen | undefined,
): Refreshing & { retry: () => Promise<void> } {
  const latest = useLatest(chat);
  const refreshing = useRefresh(chat, load, when);
  const { refresh, resume } = refreshing;

  const withdrawn = useRef({ tries: 0, at: 0 });
  const broken = ReplyBrokenError.isInstance(chat.error) ? chat.error : undefined;
  useEffect(() => {
    if (broken === undefined) return undefined;
    // If this fails the error stays, and the person may try again.
    const again = (): void => void refresh().catch(() => undefined);
    if (broken.reason === 'withdrawn') {
      const { tries, at } = withdrawn.current;
      const isRepeated = Date.now() - at < REPEATED_WITHIN_MS;
      withdrawn.current = { tries: isRepeated ? tries + 1 : 0, at: Date.now() };
      const timer = setTimeout(again, isRepeated ? retryDelayMs(tries) : 0);
      return () => {
        clearTimeout(timer);
      };
    }
    const whenVisible = (): void => {
      if (document.visibilityState === 'visible') again();
    };
    addEventListener('online', again);
    document.addEventListener('visibilitychange', whenVisible);
    return () => {
      removeEventListener('online', again);
      document.removeEventListener('visibilitychange', whenVisible);
    };
  }, [broken, refresh]);

  const retry = useCallback(async () => {
    const now = latest.current;
    const { messages, error } = now;
    if (isBusy(now)) return;
    const last = messages.at(-1);
    now.clearError();
    if (last?.role === 'user') {
      // The message keeps its id, so it counts once if it had arrived.
      now.setMessages(messages.slice(0, -1));
      await now.sendMessage(last);
    } else if (findAnswered(messages) !== undefined) {
      await now.sendMessage();
    } else if (error !== undefined && !isBreak(error)) {
      await now.regenerate();
    } else if (!(await refresh()) && error !== undefined) {
      await resume();
    }
  }, [latest, refresh, resume]);

  return { ...refreshing, retry };
}

/** Breaks within this time back off, ms, for servers that break off each replay. */
const REPEATED_WITHIN_MS = 10_000;
const { retryDelayMs } = toPatience({});

/** Returns true for errors of the connection and the server, false for errors of the run. */
function isBreak(error: Error | undefined): boolean {
  return (
    error instanceof ChatRequestError ||
    isNetworkError(error) ||
    ReplyBrokenError.isInstance(error) ||
    // The stock transport passes on the last event of a broken reply.
    error?.message === BROKEN_OFF
  );
}
