import type { UIMessage, useChat, UseChatHelpers, UseChatOptions } from '@ai-sdk/react';
import { isToolCall, lastReplyOf } from '../client/chat-message.js';
import { useEffect } from 'react';
import type { SendAutomaticallyWhen } from '../client/send-automatically.js';
import type { FailedCall, LeaseClientCall } from '../client/client-call.js';
import type { ToolHandlers } from './tool-handlers.js';
import { useRecovery, type SnapshotLoader } from './use-recovery.js';
import {
  useResumeClientTools,
  type UseResumeClientToolsOptions,
} from './use-resume-client-tools.js';
import { useHelixSendAutomaticallyWhen } from './use-send-automatically-when.js';

export type UseHelixChatOptions<M extends UIMessage> = UseChatOptions<M> & {
  /** Client tools of this page, by name. */
  toolHandlers?: ToolHandlers;
  /** Told of what a handler throws; the model is told as well. */
  onClientToolError?: (error: unknown, call: FailedCall) => void;
  /**
   * Asked before a client tool is carried out, so that of two pages only one does it. Default: what the
   * transport offers, if it does; false for nothing.
   */
  lease?: LeaseClientCall | false;
  /** What waits, with deadlines, as the snapshot has it. */
  pending?: UseResumeClientToolsOptions['pending'];
  /** Where the conversation is loaded from again. Default: what the transport knows, if it does. */
  loadSnapshot?: SnapshotLoader<M>;
};

export type UseHelixChatHelpers<M extends UIMessage> = UseChatHelpers<M> & {
  /**
   * One more try after an error: sends the message or the answers that did not get through (they count
   * once), takes up a reply that broke off, or has a turn done again that failed.
   */
  retry: () => Promise<void>;
};

export type UseHelixChat = <M extends UIMessage = UIMessage>(
  options?: UseHelixChatOptions<M>,
) => UseHelixChatHelpers<M>;

/**
 * The hook on top of a given `useChat`; both majors' will do.
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
      ...own
    } = options;
    const sessionId = 'chat' in own ? own.chat.id : own.id;
    const sendAutomaticallyWhen = useHelixSendAutomaticallyWhen(sessionId);
    // A chat that is given has its predicate already; a predicate that is given is wanted.
    const chat = useChatOfMajor<M>('chat' in own ? own : { sendAutomaticallyWhen, ...own });
    useForgetting(chat.messages, sendAutomaticallyWhen);
    const offers = ('chat' in own ? {} : (own.transport ?? {})) as TransportOffers<M>;
    const asked = lease ?? offers.leaseCall;
    useResumeClientTools({
      chat,
      toolHandlers,
      onError: onClientToolError,
      lease: asked === false ? undefined : asked,
      pending,
    });
    const retry = useRecovery(chat, loadSnapshot ?? offers.loadSnapshot);
    return { ...chat, retry };
  };
}

const NONE: ToolHandlers = {};

/** An answer that did not get through is given again: it has to count as new. */
function useForgetting(messages: UIMessage[], when: SendAutomaticallyWhen): void {
  useEffect(() => {
    for (const part of lastReplyOf(messages)?.parts ?? []) {
      if (isToolCall(part) && OPEN.has(part.state)) when.forget(part.toolCallId);
    }
  }, [messages, when]);
}

const OPEN = new Set(['input-available', 'approval-requested']);

/** What our transports have beside what chats ask of them. */
interface TransportOffers<M extends UIMessage> {
  loadSnapshot?: SnapshotLoader<M>;
  leaseCall?: LeaseClientCall;
}
