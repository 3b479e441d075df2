import type { FrontendSnapshot } from '../../protocol/http.js';
import type { ChatMessage } from './chat-message.js';
import { ChatRequestError } from './chat-request-error.js';
import { createChatRequests, type ChatRequestsOptions } from './chat-requests.js';
import type { HelixTransport } from './chat-transport.js';
import type { LeaseClientCall } from './client-call.js';
import { followReply } from './follow-reply.js';
import { createCallLease } from './lease-call.js';
import { persist, Retries, toPatience, type Patience } from './patience.js';

/** The options of `DefaultChatTransport`, and how long to keep trying. */
export type ResumableTransportOptions = ChatRequestsOptions & Partial<Patience>;

export interface ResumableChatTransport extends HelixTransport {
  /** The conversation as the server has it; undefined if it knows of none. */
  loadSnapshot: <M extends ChatMessage>(
    chatId: string,
    signal?: AbortSignal,
  ) => Promise<FrontendSnapshot<M> | undefined>;
  /** For `useResumeClientTools`: of several pages one carries out a call. */
  leaseCall: LeaseClientCall;
}

/**
 * A transport for the chat routes that keeps a reply going over broken connections: it comes back with
 * the position up to which the chat has everything, so that a chat of any version sees one reply
 * without a second beginning. A stream that cannot go on errors with a ReplyBrokenError, one that the
 * server declines with a ChatRequestError.
 *
 * @example
 * import { createResumableChatTransport } from 'helix-temporal/ai-sdk/client';
 *
 * const transport = createResumableChatTransport({ api: '/api/chat', body: { agent: 'support' } });
 */
export function createResumableChatTransport(
  options: ResumableTransportOptions = {},
): ResumableChatTransport {
  const requests = createChatRequests(options);
  const patience = toPatience(options);
  return {
    resumeStreamIsReplay: true,
    sendMessages: async (asked) => {
      const { trigger, abortSignal } = asked;
      const post = await requests.prepareSend(asked);
      // A message and an answer are taken once, however often they come. A turn that is to be done
      // again may have been by the time that it is asked for once more.
      const mayRepeat = trigger === 'submit-message';
      const response = mayRepeat
        ? await persist(() => post(abortSignal), new Retries(patience), abortSignal)
        : await post(abortSignal);
      if (response === null) throw new ChatRequestError(204, 'The response body is empty.');
      return followReply(
        {
          response,
          resume: (position, signal) => requests.follow(asked, signal, position),
          ...(mayRepeat && { repeat: post }),
        },
        patience,
        abortSignal,
      );
    },
    reconnectToStream: async (asked) => {
      const { abortSignal } = asked;
      const ask = (signal: AbortSignal | undefined): Promise<Response | null> =>
        requests.follow(asked, signal);
      const response = await persist(() => ask(abortSignal), new Retries(patience), abortSignal);
      if (response === null) return null;
      return followReply(
        {
          response,
          resume: (position, signal) => requests.follow(asked, signal, position),
          repeat: ask,
        },
        patience,
        abortSignal,
      );
    },
    leaseCall: createCallLease(requests, patience),
    loadSnapshot: async (chatId, signal) => {
      try {
        const ask = (): Promise<Response | null> => requests.snapshot(chatId, signal);
        const response = await persist(ask, new Retries(patience), signal);
        return (await response?.json()) as FrontendSnapshot<never> | undefined;
      } catch (error) {
        if (error instanceof ChatRequestError && error.statusCode === 404) return undefined;
        throw error;
      }
    },
  };
}
