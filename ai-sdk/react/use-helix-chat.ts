import { useChat, type UIMessage, type UseChatHelpers, type UseChatOptions } from '@ai-sdk/react';
import { useEffect, useRef } from 'react';
import type { SessionEvent } from '../../protocol/replies.js';
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
import {
  useRecovery,
  type Refreshing,
  type RefreshOptions,
  type SnapshotLoader,
} from './use-recovery.js';
import { useSessionEvents } from './use-session-events.js';

interface FollowingOptions {
  /**
   * URL of the conversation's `…/events`. While no reply arrives, the page then shows answers from
   * other devices, passed deadlines and queued turns. It is requested once there is a reply or
   * position. Leave it undefined while the page is hidden: browsers limit connections to one
   * server.
   */
  eventsUrl?: string | undefined;
  /** Requests the events; for the application's own headers, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Sequence of the snapshot with which the page starts. */
  resumeFromSequence?: number | undefined;
  /** Called with the conversation's state when the page opens and after each change. */
  onSessionEvent?: ((event: SessionEvent) => void) | undefined;
}

export type UseHelixChatOptions<M extends UIMessage> = UseChatOptions<M> &
  FollowingOptions & {
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
      eventsUrl,
      fetch,
      resumeFromSequence,
      onSessionEvent,
      resume: isResumed,
      ...own
    } = options;
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

/**
 * Adds client tools, approvals and recovery from dropped connections to `useChat`: answers are
 * posted once, tools with a handler are carried out, and a withdrawn reply is loaded again.
 *
 * @example
 * import { createResumableChatTransport } from 'helix-temporal/ai-sdk/client';
 * import { useHelixChat } from 'helix-temporal/ai-sdk/react';
 *
 * const transport = createResumableChatTransport({ api: '/api/chat' });
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages, sendMessage } = useHelixChat({
 *     id,
 *     transport,
 *     resume: true,
 *     toolHandlers: { getLocation: () => ({ city: 'Rome' }) },
 *   });
 *   return <button onClick={() => void sendMessage({ text: 'Hello' })}>{messages.length}</button>;
 * }
 */
// An inferred type would name `ai`, which need not be the page's copy here.
export const useHelixChat: UseHelixChat = createHelixChatHook(useChat);

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

/** Wraps the loader to record the sequence up to which the page has the conversation. */
function useNotedLoader<M>(
  sessionId: string,
  load: SnapshotLoader<M> | undefined,
  first = -1,
): { load: SnapshotLoader<M> | undefined; seen: { current: number } } {
  const seen = useRef(first);
  const shownId = useRef(sessionId);
  useEffect(() => {
    if (shownId.current !== sessionId) seen.current = first;
    shownId.current = sessionId;
  }, [sessionId, first]);
  if (load === undefined) return { load, seen };
  const noting: SnapshotLoader<M> = async (chatId) => {
    const snapshot = await load(chatId);
    if (chatId === shownId.current) seen.current = snapshot?.streamSequence ?? seen.current;
    return snapshot;
  };
  return { load: noting, seen };
}

/**
 * Quiet time before a refresh, ms: a turn that changes faster is short, or between two steps. To
 * follow a turn, the page removes and replays its message visibly.
 */
const QUIET_MS = 200;

/** Refreshes a chat at rest when the conversation is ahead of the page. */
function useFollowing(
  chat: { status: string; messages: readonly { role: string }[] },
  options: FollowingOptions,
  seen: { current: number },
  refresh: Refreshing['refresh'],
): void {
  const { eventsUrl, fetch, resumeFromSequence = 0, onSessionEvent } = options;
  // Nothing exists to follow before the first message is accepted.
  const exists = resumeFromSequence > 0 || chat.messages.some(({ role }) => role === 'assistant');
  const { event } = useSessionEvents({
    eventsUrl: exists ? eventsUrl : undefined,
    fetch,
    onEvent: onSessionEvent,
    // A person looks at the page, so it waits for the server without limit.
    giveUpAfterMs: Infinity,
  });
  const isAtRest = !isBusy(chat);
  useEffect(() => {
    if (event === undefined || !isAtRest) return undefined;
    const timer = setTimeout(() => {
      refresh({}, () => event.sequence > seen.current).catch(() => undefined);
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [event, isAtRest, seen, refresh]);
}
