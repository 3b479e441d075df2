import type { UIMessage, UseChatHelpers } from '@ai-sdk/react';
import { useCallback, useEffect, useRef } from 'react';
import type { FrontendSnapshot } from '../../protocol/replies.js';
import { ChatRequestError, ReplyBrokenError, isNetworkError, readCode } from '../client/errors.js';
import { keepUnsent, isBusy, rebuildReply } from '../client/rebuild-reply.js';
import { toPatience } from '../client/patience.js';
import { BROKEN_OFF } from '../parts/errors.js';
import { findAnswered, type SendAutomaticallyWhen } from '../client/send-automatically.js';
import { useLatest } from './use-latest.js';

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
    const isOfRun = error !== undefined && !isBreak(error);
    // An unknown text may be a proxy's, so the server says whether the run has failed.
    const snapshot = isOfRun ? await load?.(now.id).catch(() => undefined) : undefined;
    if (isBusy(latest.current) || latest.current.id !== now.id) return;
    const last = messages.at(-1);
    now.clearError();
    if (isOfRun && (load === undefined || snapshot?.status === 'failed')) {
      await now.regenerate();
    } else if (last?.role === 'user' && isRefusedEdit(error)) {
      await now.sendMessage({ ...last, messageId: last.id });
    } else if (last?.role === 'user') {
      // The message keeps its id, so it counts once if it had arrived.
      now.setMessages(messages.slice(0, -1));
      await now.sendMessage(last);
    } else if (findAnswered(messages) !== undefined) {
      await now.sendMessage();
    } else if (isOfRun) {
      await now.regenerate();
    } else if (!(await refresh()) && error !== undefined) {
      await resume();
    }
  }, [latest, load, refresh, resume]);

  return { ...refreshing, retry };
}

/** Breaks within this time back off, ms, for servers that break off each replay. */
const REPEATED_WITHIN_MS = 10_000;
const { retryDelayMs } = toPatience({});

/** Returns true for errors of the connection and the server, false for errors of the run. */
function isBreak(error: Error): boolean {
  return (
    isNetworkError(error) ||
    ReplyBrokenError.isInstance(error) ||
    // The stock transport passes on the last event of a broken reply.
    error.message === BROKEN_OFF ||
    // Refusals have the status, or the reply's body as message.
    'statusCode' in error ||
    readCode(error.message) !== undefined
  );
}

/** Returns true if the server has another version of the message, since an edit of it was lost. */
function isRefusedEdit(error: Error | undefined): boolean {
  return error !== undefined && readCode(error.message) === 'message_conflict';
}

export interface RefreshOptions {
  /** False drops answers and messages that the server has not accepted. Default: true. */
  keepUnsent?: boolean;
}

export interface Refreshing {
  /**
   * Shows the server's conversation, and follows an active run. Resolves to false if the chat is
   * busy, the conversation does not exist, or `isWanted` returns false when its turn comes.
   */
  refresh: (options?: RefreshOptions, isWanted?: () => boolean) => Promise<boolean>;
  /** Calls `resumeStream`, never twice at a time: a chat is not busy while it asks for a stream. */
  resume: () => Promise<void>;
}

/** Replaces the page's conversation by the server's, one refresh at a time. */
function useRefresh<M extends UIMessage>(
  chat: UseChatHelpers<M>,
  load: SnapshotLoader<M> | undefined,
  when: SendAutomaticallyWhen | undefined,
): Refreshing {
  const latest = useLatest({ chat, load });
  const resuming = useRef<{ chatId: string; settled: Promise<void> } | undefined>(undefined);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  // The chat stops when its page unmounts; in React's strict mode the second mount resumes it.
  useEffect(
    () => () => {
      resuming.current = undefined;
    },
    [],
  );

  const resume = useCallback((): Promise<void> => {
    const { id: chatId, resumeStream } = latest.current.chat;
    if (resuming.current?.chatId === chatId) return resuming.current.settled;
    const settled = resumeStream().finally(() => {
      if (resuming.current?.settled === settled) resuming.current = undefined;
    });
    resuming.current = { chatId, settled };
    return settled;
  }, []);
  const resumed = useCallback(async (): Promise<void> => {
    const { current } = resuming;
    if (current?.chatId === latest.current.chat.id) await current.settled.catch(() => undefined);
  }, []);

  const refreshNow = useCallback(
    async ({ keepUnsent: isKept = true }: RefreshOptions): Promise<boolean> => {
      const { chat: now, load: from } = latest.current;
      if (from === undefined || isBusy(now)) return false;
      const unsent = { isMessage: false, hasAnswers: false };
      const isRefused = now.error instanceof ChatRequestError && !now.error.isPassing;
      let shown: M[] = [];
      let isFailed = false;
      const current = {
        id: now.id,
        // The chat may have become busy while the snapshot loaded.
        get status() {
          return latest.current.chat.status;
        },
        clearError: () => {
          // What is unsent, or failed, keeps its error, so that the page offers another try.
          const { error } = latest.current.chat;
          const isOfRun = isFailed && error !== undefined && !isBreak(error);
          const isUnsent = unsent.isMessage || (unsent.hasAnswers && isRefused);
          if (!isUnsent && !isOfRun) now.clearError();
        },
        resumeStream: () => {
          // The refresh does not wait for the end of the stream: the page is right from its
          // beginning.
          resume().catch(() => undefined);
          return Promise.resolve();
        },
      };
      const show = (server: M[]): void => {
        now.setMessages((local) => (shown = isKept ? keepUnsent(server, local) : server));
        unsent.isMessage = shown.length > server.length;
        unsent.hasAnswers = server.some((message, at) => message !== shown[at]);
      };
      // The page may show another conversation by then.
      const loaded = async () => {
        const snapshot = await from(now.id);
        isFailed = snapshot?.status === 'failed';
        return latest.current.chat.id === now.id ? snapshot : undefined;
      };
      if (!(await rebuildReply<M>(current, show, loaded))) return false;
      const isFree = !isBusy(latest.current.chat) && resuming.current?.chatId !== now.id;
      if (unsent.hasAnswers && isFree) {
        // Others gave the missing answers, or the server never got this page's: they go out now.
        if (!isRefused) when?.forget();
        if (when?.({ messages: shown })) void now.sendMessage();
      }
      return true;
    },
    [resume, when],
  );

  const refresh = useCallback(
    (options: RefreshOptions = {}, isWanted = (): boolean => true): Promise<boolean> => {
      const next = last.current.then(async () => {
        await resumed();
        return isWanted() && refreshNow(options);
      });
      last.current = next.catch(() => undefined);
      return next;
    },
    [refreshNow, resumed],
  );

  return { refresh, resume };
}

/** Loads the conversation that a chat shows; undefined if it does not exist. */
export type SnapshotLoader<M> = (
  chatId: string,
) => Promise<
  | (Pick<FrontendSnapshot<Record<string, unknown>, M>, 'messages' | 'status'> &
      Partial<Pick<FrontendSnapshot<Record<string, unknown>, M>, 'streamSequence'>>)
  | undefined
>;
