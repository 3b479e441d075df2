import type { NewerStreamPart, UIStreamPart } from '../parts/ui-stream-part.js';
import type { ChatMessage } from './chat-message.js';

/** The parts that clients of ai 6 and of ai 7 accept. */
export type CommonStreamPart = Exclude<UIStreamPart, NewerStreamPart>;

/** Fields that a chat sends with its messages. */
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

/** A chat transport for ai 6 and 7, typed separately because their transport types differ. */
export interface HelixTransport {
  /** A resumed reply is streamed from its beginning. */
  readonly resumeStreamIsReplay: true;
  sendMessages: (options: SendMessagesOptions) => Promise<ReadableStream<CommonStreamPart>>;
  /** Resolves to null if there is nothing to follow. */
  reconnectToStream: (
    options: ReconnectOptions,
  ) => Promise<ReadableStream<CommonStreamPart> | null>;
}
