import type { NewerStreamPart, UIStreamPart } from '../parts/ui-stream-part.js';
import type { ChatMessage } from './chat-message.js';

/** The parts that every client of ai 6 and 7 takes. */
export type CommonStreamPart = Exclude<UIStreamPart, NewerStreamPart>;

/** What a chat says beside its messages. */
export interface ChatRequestOptions {
  headers?: Record<string, string> | Headers;
  body?: object;
  metadata?: unknown;
}

export interface SendMessagesOptions extends ChatRequestOptions {
  trigger: 'submit-message' | 'regenerate-message';
  chatId: string;
  messageId: string | undefined;
  messages: ChatMessage[];
  abortSignal: AbortSignal | undefined;
}

export interface ReconnectOptions extends ChatRequestOptions {
  chatId: string;
  abortSignal?: AbortSignal;
}

/** A chat transport as chats of ai 6 and 7 take it. Typed by itself: the two do not agree on a type. */
export interface HelixTransport {
  /** A reply that is taken up again comes from its beginning. */
  readonly resumeStreamIsReplay: true;
  sendMessages: (options: SendMessagesOptions) => Promise<ReadableStream<CommonStreamPart>>;
  /** Null if there is nothing to follow. */
  reconnectToStream: (
    options: ReconnectOptions,
  ) => Promise<ReadableStream<CommonStreamPart> | null>;
}
