import type { FrontendSnapshot, UIMessage } from '../parts/ui-message.js';
import type { ChatMessage } from './chat-message.js';
import { createChatRequests, type ChatRequestsOptions } from './chat-requests.js';

/** The options of the chat's transport, so that both ask the same server as the same user. */
export interface LoadSnapshotOptions extends ChatRequestsOptions {
  signal?: AbortSignal | undefined;
}

/**
 * Loads a page's initial state: messages, open questions, state, and whether a reply is running. A
 * chat without a message has an empty snapshot, since the server answers 404 for it, as for another
 * user's.
 *
 * @throws ChatRequestError for any other refusal
 * @example
 * import { loadSnapshot } from 'helix-temporal/ai-sdk/client';
 *
 * const { messages, pending, status } = await loadSnapshot('chat-1', { api: '/api/chat' });
 * console.log(messages.length, pending?.length, status === 'active' || status === 'paused');
 */
export async function loadSnapshot<
  State = Record<string, unknown>,
  Message extends ChatMessage = UIMessage,
>(
  chatId: string,
  { signal, ...options }: LoadSnapshotOptions = {},
): Promise<FrontendSnapshot<State, Message>> {
  const snapshot = await createChatRequests(options).snapshot<Message>(chatId, signal);
  if (snapshot !== undefined) return snapshot as FrontendSnapshot<State, Message>;
  return {
    state: null,
    messages: [],
    streamSequence: 0,
    status: 'ended',
    checkpointId: null,
    timestamp: Date.now(),
    pending: [],
    queue: [],
  };
}
