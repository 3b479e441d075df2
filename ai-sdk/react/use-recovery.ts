import type { UIMessage, UseChatHelpers } from '@ai-sdk/react';
import { useCallback, useEffect, useRef } from 'react';
import type { FrontendSnapshot } from '../../protocol/http.js';
import { isNetworkError } from '../client/is-network-error.js';
import { isBusy, rebuildReply } from '../client/rebuild-reply.js';
import { ReplyBrokenError } from '../client/reply-broken-error.js';
import { findAnswered } from '../client/send-automatically.js';

export type SnapshotLoader<M> = (
  chatId: string,
) => Promise<Pick<FrontendSnapshot<M>, 'messages' | 'status'> | undefined>;

/**
 * Loads the conversation again when the reply that the page holds was taken back, and when the network is
 * back after the reply had broken off; returns what a person's wish for another try does.
 */
export function useRecovery<M extends UIMessage>(
  chat: UseChatHelpers<M>,
  load: SnapshotLoader<M> | undefined,
): () => Promise<void> {
  const latest = useRef({ chat, load });
  useEffect(() => {
    latest.current = { chat, load };
  });

  const rebuild = useCallback(async () => {
    const { chat: now, load: from } = latest.current;
    if (from === undefined || isBusy(now)) return false;
    // What the chat has become while the snapshot came is asked of the newest render.
    const moving = {
      ...now,
      get status() {
        return latest.current.chat.status;
      },
    };
    return rebuildReply<M>(moving, now.setMessages, () => from(now.id));
  }, []);

  const broken = ReplyBrokenError.isInstance(chat.error) ? chat.error : undefined;
  useEffect(() => {
    if (broken === undefined) return undefined;
    // The error stays where it is if this does not work: the person may try again.
    const again = (): void => void rebuild().catch(() => undefined);
    if (broken.reason === 'withdrawn') {
      again();
      return undefined;
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
  }, [broken, rebuild]);

  return useCallback(async () => {
    const { chat: now } = latest.current;
    const { messages, error } = now;
    if (isBusy(now)) return;
    const last = messages.at(-1);
    now.clearError();
    if (last?.role === 'user') {
      // Under its own id, so that it counts once if it had arrived.
      now.setMessages(messages.slice(0, -1));
      await now.sendMessage(last);
    } else if (findAnswered(messages) !== undefined) {
      await now.sendMessage();
    } else if (isBreak(error)) {
      if (!(await rebuild())) await now.resumeStream();
    } else if (error !== undefined) {
      await now.regenerate();
    }
  }, [rebuild]);
}

/** True for errors of the connection, as opposed to those of the run. */
function isBreak(error: Error | undefined): boolean {
  return isNetworkError(error) || ReplyBrokenError.isInstance(error);
}
