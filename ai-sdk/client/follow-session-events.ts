import type { SessionEvent } from '../../protocol/http.js';
import { ChatRequestError } from './chat-request-error.js';
import { isNetworkError } from './is-network-error.js';
import { persist, Retries, type Patience } from './patience.js';
import { readSseEvents } from './sse-events.js';

/**
 * The state of a conversation, now and after each change, over as many connections as it takes. Ends when the
 * conversation is erased. Each connection begins with the current state, so none has to be resumed.
 *
 * @throws ChatRequestError when the server refuses; the connection's error when time is over
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
      await retries.next(error, signal);
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
