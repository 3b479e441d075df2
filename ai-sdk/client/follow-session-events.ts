import type { SessionEvent } from '../../protocol/http.js';
import { ChatRequestError } from './chat-request-error.js';
import { isNetworkError } from './is-network-error.js';
import { persist, Retries, type Patience } from './patience.js';
import { readSseEvents } from './sse-events.js';

/**
 * How a conversation stands, now and whenever that changes, over as many connections as it takes; ends
 * when the conversation is erased. A connection begins with how it stands, so none has to be resumed.
 *
 * @throws ChatRequestError when the server refuses; what broke the connection when time is over
 */
export async function* followSessionEvents(
  url: string,
  send: typeof globalThis.fetch,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent, void, undefined> {
  const retries = new Retries(patience);
  for (;;) {
    const response = await persist(() => open(url, send, signal), retries, signal);
    try {
      if (response.body === null) return;
      for await (const events of readSseEvents(response.body, patience.longestSilenceMs)) {
        retries.reset();
        for (const { data } of events) yield JSON.parse(data) as SessionEvent;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!isNetworkError(error)) throw error;
      patience.onConnectionChange?.(false);
      await retries.next(error, signal);
      patience.onConnectionChange?.(true);
    }
  }
}

async function open(
  url: string,
  send: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<Response> {
  const response = await send(url, { signal, cache: 'no-store' });
  if (!response.ok) throw new ChatRequestError(response.status, await response.text());
  return response;
}
