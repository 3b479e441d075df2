import { HEADERS } from '../../protocol/ids.js';
import type { ChatMessage } from './chat-message.js';

export interface PrepareHelixChatRequestOptions {
  /** URL of the chat. For a reconnect it is the whole URL, which includes the session. */
  api: string;
  /** Sequence of the snapshot with which the page started. */
  resumeFromSequence?: number | undefined;
  /** Id of the assistant message that a continuation adds to; fresh turns ignore it. */
  existingMessageId?: string | undefined;
  /** Fields sent with every message; the chat's own fields win. */
  body?: Record<string, unknown> | undefined;
  /**
   * `tail` posts only what the server reads: the newest reply and the user's messages after it.
   * Default: `all`.
   */
  send?: 'all' | 'tail' | undefined;
}

/** The fields that are read of a preparer's request. */
export interface ReconnectRequest {
  id: string;
  headers?: HeadersInit | undefined;
  credentials?: RequestCredentials | undefined;
}

export interface ChatSendRequest<M extends ChatMessage = ChatMessage> extends ReconnectRequest {
  messages: M[];
  body?: object | undefined;
  trigger: string;
  messageId: string | undefined;
}

/** A preparer's result; it replaces the transport's own request. */
export interface PreparedRequest {
  api: string;
  headers: Record<string, string>;
  credentials?: RequestCredentials;
}

/**
 * Returns a `prepareSendMessagesRequest` for a chat transport.
 *
 * @example
 * import { DefaultChatTransport } from 'ai';
 * import { prepareHelixChatRequest } from 'helix-temporal/ai-sdk/client';
 *
 * export const transport = new DefaultChatTransport({
 *   prepareSendMessagesRequest: prepareHelixChatRequest({ api: '/api/chat', send: 'tail' }),
 * });
 */
export function prepareHelixChatRequest(
  options: PrepareHelixChatRequestOptions,
): <M extends ChatMessage>(request: ChatSendRequest<M>) => PreparedRequest & { body: object } {
  return (request) => {
    const { id, messages, trigger, messageId } = request;
    const sent = options.send === 'tail' ? toTail(messages) : messages;
    const isAlone = options.send === 'tail' && sent.length === 1;
    return {
      ...prepare(options, request),
      body: {
        ...options.body,
        ...request.body,
        id,
        ...(isAlone ? { message: sent[0] } : { messages: sent }),
        trigger,
        messageId,
      },
    };
  };
}

/**
 * Returns a `prepareReconnectToStreamRequest` for a chat transport: the stock one requests
 * `<api>/<id>/stream`, this one `api` itself.
 *
 * @example
 * import { DefaultChatTransport } from 'ai';
 * import { prepareHelixReconnectRequest } from 'helix-temporal/ai-sdk/client';
 *
 * export const createTransport = (id: string, resumeFromSequence: number) =>
 *   new DefaultChatTransport({
 *     prepareReconnectToStreamRequest: prepareHelixReconnectRequest({
 *       api: `/api/chat/${id}/stream`,
 *       resumeFromSequence,
 *     }),
 *   });
 */
export function prepareHelixReconnectRequest(
  options: PrepareHelixChatRequestOptions,
): (request: ReconnectRequest) => PreparedRequest {
  return (request) => prepare(options, request);
}

/** A reply without open parts is sent too, since it may have been stopped between two parts. */
function toTail<M extends ChatMessage>(messages: M[]): M[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(Math.max(at, 0));
}

/** Keeps the transport's headers, since the transport sends the prepared headers instead. */
function prepare(
  options: PrepareHelixChatRequestOptions,
  { headers: own, credentials }: ReconnectRequest,
): PreparedRequest {
  const headers = new Headers(own);
  const { resumeFromSequence, existingMessageId } = options;
  if (resumeFromSequence !== undefined) {
    headers.set(HEADERS.resumeFromSequence, String(resumeFromSequence));
  }
  if (existingMessageId !== undefined) headers.set(HEADERS.existingMessageId, existingMessageId);
  return {
    api: options.api,
    headers: Object.fromEntries(headers),
    credentials,
  };
}
