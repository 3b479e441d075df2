import type { FrontendSnapshot } from '../../protocol/replies.js';
import type { ChatMessage } from './chat-message.js';
import { ChatRequestError } from './errors.js';
import { createChatRequests, type ChatRequestsOptions } from './chat-requests.js';
import type { HelixTransport, ReconnectOptions } from './chat-transport.js';
import { type LeaseClientCall, createCallLease } from './lease-call.js';
import { followReply, type ReplySource } from './follow-reply.js';
import { persist, Retries, toPatience, type Patience } from './patience.js';

/** The options of `DefaultChatTransport`, with limits on retries. */
export type ResumableTransportOptions = ChatRequestsOptions & Partial<Patience>;

export interface ResumableChatTransport extends HelixTransport {
  /** Loads the conversation from the server; undefined if it does not exist. */
  loadSnapshot: <M extends ChatMessage>(
    chatId: string,
    signal?: AbortSignal,
  ) => Promise<FrontendSnapshot<Record<string, unknown>, M> | undefined>;
  /** Lease for `useResumeClientTools`, so that only one of several pages carries out a call. */
  leaseCall: LeaseClientCall;
}

/**
 * Creates a transport for the chat routes that resumes a reply across dropped connections: it
 * reconnects at the position up to which the chat has everything, so a chat of any version sees one
 * reply. A stream that cannot be continued errors with a ReplyBrokenError, a refused request with a
 * ChatRequestError.
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

  /** Streams the rest of a reply that has begun. */
  function follow(
    asked: ReconnectOptions,
    response: Response,
    repeat: ReplySource['repeat'],
  ): ReturnType<typeof followReply> {
    const resume: ReplySource['resume'] = (position, signal) =>
      requests.follow(asked, signal, position);
    return followReply({ response, resume, repeat }, patience, asked.abortSignal);
  }

  return {
    resumeStreamIsReplay: true,
    sendMessages: async (asked) => {
      const { trigger, abortSignal: signal } = asked;
      const post = await requests.prepareSend(asked);
      // The server accepts a message or an answer once, however often it is sent. A request to
      // repeat a turn may already have been served when it is sent again.
      const mayRepeat = trigger === 'submit-message';
      const response = mayRepeat
        ? await persist(() => post(signal), new Retries(patience), signal)
        : await post(signal);
      if (response === null) throw new ChatRequestError(204, 'The response body is empty.');
      return follow(asked, response, mayRepeat ? post : undefined);
    },
    reconnectToStream: async (asked) => {
      const { abortSignal } = asked;
      const ask = (signal: AbortSignal | undefined): Promise<Response | null> =>
        requests.follow(asked, signal);
      const response = await persist(() => ask(abortSignal), new Retries(patience), abortSignal);
      return response === null ? null : follow(asked, response, ask);
    },
    leaseCall: createCallLease(requests, patience),
    loadSnapshot: (chatId, signal) =>
      persist(() => requests.snapshot(chatId, signal), new Retries(patience), signal),
  };
}
