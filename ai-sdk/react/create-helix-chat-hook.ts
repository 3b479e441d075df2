import type { UIMessage, useChat, UseChatHelpers, UseChatOptions } from '@ai-sdk/react';
import { useEffect, useRef } from 'react';
import { isBusy } from '../client/rebuild-reply.js';
import { isAsked, isToolCall, lastReplyOf } from '../client/chat-message.js';
import {
  type SendAutomaticallyWhen,
  createHelixSendAutomaticallyWhen,
} from '../client/send-automatically.js';
import type { FailedCall, LeaseClientCall } from '../client/lease-call.js';
import {
  type ToolHandlers,
  useResumeClientTools,
  type UseResumeClientToolsOptions,
} from './client-tools.js';
import type { SnapshotLoader, RefreshOptions } from './use-refresh.js';
import { useFollowing, useNotedLoader, type FollowingOptions } from './use-following.js';
import { useRecovery } from './use-recovery.js';

export type UseHelixChatOptions<M extends UIMessage> = UseChatOptions<M> &
  FollowingOptions & {
    /** Handlers of this page's client tools, by name. */
    toolHandlers?: ToolHandlers;
    /** Called with a handler's error, whose message the model gets as the call's result. */
    onClientToolError?: (error: unknown, call: FailedCall) => void;
    /**
     * Called before a client tool runs, so that only one of several pages runs it. Default: the
     * transport's `leaseCall`, if any. False: every page runs it.
     */
    lease?: LeaseClientCall | false;
    /** The snapshot's pending calls with their deadlines. */
    pending?: UseResumeClientToolsOptions['pending'];
    /** Loads the conversation again. Default: the transport's `loadSnapshot`, if any. */
    loadSnapshot?: SnapshotLoader<M>;
  };

export type UseHelixChatHelpers<M extends UIMessage> = UseChatHelpers<M> & {
  /**
   * Tries again after an error: sends the lost message or answers (they count once), continues a
   * broken reply, or repeats a failed turn. Without an error it refreshes.
   */
  retry: () => Promise<void>;
  /**
   * Shows the server's conversation, and follows an active run. Unsent answers and an unsent
   * message stay unless `keepUnsent` is false. Resolves to false, without effect, while a reply
   * arrives.
   */
  refresh: (options?: RefreshOptions) => Promise<boolean>;
};

export type UseHelixChat = <M extends UIMessage = UIMessage>(
  options?: UseHelixChatOptions<M>,
) => UseHelixChatHelpers<M>;

/**
 * Makes `useHelixChat` from the application's own `useChat`, of either major.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { createHelixChatHook } from 'helix-temporal/ai-sdk/react';
 *
 * // With the `useChat` of the page's own version of the AI SDK.
 * export const useHelixChat = createHelixChatHook(useChat);
 */
export function createHelixChatHook(useChatOfMajor: typeof useChat): UseHelixChat {
  return function useHelixChat<M extends UIMessage = UIMessage>(
    options: UseHelixChatOptions<M> = {},
  ): UseHelixChatHelpers<M> {
    const {
      toolHandlers = NONE,
      onClientToolError,
      lease,
      pending,
      loadSnapshot,
      ...others
    } = options;
    const {
      eventsUrl,
      fetch,
      resumeFromSequence,
      onSessionEvent,
      resume: isResumed,
      ...own
    } = others;
    const sessionId = 'chat' in own ? own.chat.id : own.id;
    const sendAutomaticallyWhen = useHelixSendAutomaticallyWhen(sessionId);
    const offers = ('chat' in own ? {} : (own.transport ?? {})) as TransportOffers<M>;
    const loader = loadSnapshot ?? offers.loadSnapshot;
    // Without snapshots the chat resumes like stock chats, also when its page becomes visible
    // again.
    const stock = { resume: loader === undefined ? isResumed : undefined };
    // A passed chat has its own predicate; a passed predicate replaces ours.
    const hasOwnPredicate = 'chat' in own || own.sendAutomaticallyWhen !== undefined;
    const chat = useChatOfMajor<M>(
      'chat' in own ? { ...own, ...stock } : { sendAutomaticallyWhen, ...own, ...stock },
    );
    useForgetting(chat.messages, sendAutomaticallyWhen);
    const leaseCall = lease ?? offers.leaseCall;
    useResumeClientTools({
      chat,
      toolHandlers,
      onError: onClientToolError,
      lease: leaseCall === false ? undefined : leaseCall,
      pending,
    });
    const { load, seen } = useNotedLoader(chat.id, loader, resumeFromSequence);
    const when = hasOwnPredicate ? undefined : sendAutomaticallyWhen;
    const { refresh, resume, retry } = useRecovery(chat, load, when);
    const isResuming = isResumed === true && loader !== undefined;
    useEffect(() => {
      if (isResuming && !isBusy(chat)) resume().catch(() => undefined);
    }, [isResuming, resume, chat.id]);
    useFollowing(chat, { eventsUrl, fetch, resumeFromSequence, onSessionEvent }, seen, refresh);
    return { ...chat, retry, refresh };
  };
}

const NONE: ToolHandlers = {};

/** Makes answers to calls that are open again count as new, so that they are sent again. */
function useForgetting(messages: UIMessage[], when: SendAutomaticallyWhen): void {
  useEffect(() => {
    for (const part of lastReplyOf(messages)?.parts ?? []) {
      if (isToolCall(part) && isAsked(part)) when.forget(part.toolCallId);
    }
  }, [messages, when]);
}

/** Members that Helix transports add to the interface of chats. */
interface TransportOffers<M extends UIMessage> {
  loadSnapshot?: SnapshotLoader<M>;
  leaseCall?: LeaseClientCall;
}

/**
 * Returns a `sendAutomaticallyWhen` for `useChat` that lasts as long as the session.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useHelixSendAutomaticallyWhen } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages } = useChat({ id, sendAutomaticallyWhen: useHelixSendAutomaticallyWhen(id) });
 *   return <p>{messages.length} messages</p>;
 * }
 */
export function useHelixSendAutomaticallyWhen(sessionId?: string): SendAutomaticallyWhen {
  const held = useRef<{ sessionId: string | undefined; when: SendAutomaticallyWhen } | undefined>(
    undefined,
  );
  // React may drop a memo at any time, and with it the record of sent answers.
  if (held.current === undefined || held.current.sessionId !== sessionId) {
    held.current = { sessionId, when: createHelixSendAutomaticallyWhen() };
  }
  return held.current.when;
}
