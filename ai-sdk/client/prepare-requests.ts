import { HEADERS } from '../../protocol/ids.js';
import {
  clientCallsOf,
  isAnswered,
  isSettled,
  isToolCall,
  toNewestStep,
  type ChatMessage,
} from './chat-message.js';

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
   * `tail` posts only what the server reads: the newest messages of the user, or the newest reply,
   * or both while the reply is unfinished or has answers. Default: `all`.
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

function toTail<M extends ChatMessage>(messages: M[]): M[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user');
  const reply = messages[at];
  const isRead = at === messages.length - 1 || (reply !== undefined && isUnfinished(reply));
  return messages.slice(isRead ? at : at + 1);
}

/** Returns true for a reply that was cut short, asks, or has answers that may not be sent yet. */
function isUnfinished(reply: ChatMessage): boolean {
  const newest = toNewestStep(reply);
  const isOpen = (part: { type: string; state?: unknown }): boolean =>
    isToolCall(part) ? !isSettled(part) : part.state === 'streaming';
  return newest.parts.some(isOpen) || clientCallsOf(newest).some(isAnswered);
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
