import { HEADERS } from '../../protocol/headers.js';
import type { ChatMessage } from './chat-message.js';

export interface PrepareHelixChatRequestOptions {
  /** URL of the chat. For the reconnect it is the whole URL, so it names the session. */
  api: string;
  /** Sequence of the snapshot that the page started with. */
  resumeFromSequence?: number | undefined;
  /** Id of the assistant message that a continuation adds to; fresh turns ignore it. */
  existingMessageId?: string | undefined;
  /** Sent with every message; the chat's own fields win. */
  body?: Record<string, unknown> | undefined;
  /** `tail` posts the newest message only, which is all that the server reads. Default: `all`. */
  send?: 'all' | 'tail' | undefined;
}

/** What a transport gives to a preparer; the parts that are read. */
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

/** What a preparer returns replaces what the transport would send. */
export interface PreparedRequest {
  api: string;
  headers: Record<string, string>;
  credentials?: RequestCredentials;
}

/** For `prepareSendMessagesRequest` of a chat transport. */
export function prepareHelixChatRequest(
  options: PrepareHelixChatRequestOptions,
): <M extends ChatMessage>(request: ChatSendRequest<M>) => PreparedRequest & { body: object } {
  return (request) => {
    const { id, messages, trigger, messageId } = request;
    const newest = messages.at(-1);
    const isTail = options.send === 'tail' && newest !== undefined;
    return {
      ...prepare(options, request),
      body: {
        ...options.body,
        ...request.body,
        id,
        ...(isTail ? { message: newest } : { messages }),
        trigger,
        messageId,
      },
    };
  };
}

/**
 * For `prepareReconnectToStreamRequest` of a chat transport: the stock one asks at
 * `<api>/<id>/stream`, this one at `api` itself.
 */
export function prepareHelixReconnectRequest(
  options: PrepareHelixChatRequestOptions,
): (request: ReconnectRequest) => PreparedRequest {
  return (request) => prepare(options, request);
}

/** Given headers stay: a transport takes the prepared ones instead of its own. */
function prepare(
  options: PrepareHelixChatRequestOptions,
  { headers: given, credentials }: ReconnectRequest,
): PreparedRequest {
  const headers = new Headers(given);
  const { resumeFromSequence, existingMessageId } = options;
  if (resumeFromSequence !== undefined) {
    headers.set(HEADERS.resumeFromSequence, String(resumeFromSequence));
  }
  if (existingMessageId !== undefined) headers.set(HEADERS.existingMessageId, existingMessageId);
  return {
    api: options.api,
    headers: Object.fromEntries(headers),
    ...(credentials !== undefined && { credentials }),
  };
}
