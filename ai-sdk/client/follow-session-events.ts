import type { SessionEvent } from '../../protocol/replies.js';
import { ChatRequestError, isNetworkError } from './errors.js';
import { persist, Retries, type Patience } from './patience.js';
import { readSseEvents } from './sse-events.js';

/**
 * Yields the state of a conversation, now and after each change, over any number of connections.
 * Ends once the conversation no longer exists. Each connection begins with the current state, so
 * none has to be resumed.
 *
 * @throws ChatRequestError if the server refuses; the connection's error when retries are exhausted
 */
export async function* followSessionEvents(
  url: string,
  send: typeof globalThis.fetch,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent, void, undefined> {
  const retries = new Retries(patience);
  for (let hasEvents = false; ;) {
    let cause: unknown = new TypeError('network error: the events ended');
    try {
      const { body } = await persist(() => open(url, send, signal), retries, signal, hasEvents);
      if (body === null) return;
      for await (const events of readSseEvents(body, patience.longestSilenceMs)) {
        retries.reset();
        for (const { data } of events) {
          hasEvents = true;
          yield JSON.parse(data) as SessionEvent;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      if (hasEvents && error instanceof ChatRequestError && error.statusCode === 404) return;
      if (!isNetworkError(error)) throw error;
      cause = error;
    }
    await retries.next(cause, signal);
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
