import type { FrontendSnapshot } from '../../protocol/http.js';
import type { ChatMessage } from './chat-message.js';
import { ChatRequestError } from './chat-request-error.js';
import { createChatRequests, type ChatRequestsOptions } from './chat-requests.js';

/** Those of the chat's transport, so that both ask the same server as the same user. */
export interface LoadSnapshotOptions extends ChatRequestsOptions {
  signal?: AbortSignal | undefined;
}

/**
 * Loads what a page starts with: messages, open questions, state, and whether a reply is running. A
 * chat without a message yet has an empty snapshot: the server answers 404 for it, as for another
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
  Message extends ChatMessage = ChatMessage,
  State = Record<string, unknown>,
>(
  chatId: string,
  { signal, ...options }: LoadSnapshotOptions = {},
): Promise<FrontendSnapshot<Message, State>> {
  try {
    const response = await createChatRequests(options).snapshot(chatId, signal);
    if (response !== null) return (await response.json()) as FrontendSnapshot<Message, State>;
  } catch (error) {
    if (!(error instanceof ChatRequestError) || error.statusCode !== 404) throw error;
  }
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
