import { useEffect, useState } from 'react';
import type { SessionEvent } from '../../protocol/replies.js';
import { receive } from '../client/connections.js';
import { ChatRequestError, ReplyBrokenError } from '../client/errors.js';
import { toPatience, type Patience } from '../client/patience.js';
import { useLatest } from './use-latest.js';

export interface UseSessionEventsOptions extends Partial<Patience> {
  /** URL of the conversation's `…/events`; undefined to follow nothing. */
  eventsUrl: string | undefined;
  /** Requests the events; for the application's own headers, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Called for each event, including the first one of a connection. */
  onEvent?: ((event: SessionEvent) => void) | undefined;
}

export interface SessionEvents {
  /** State of the conversation; undefined until the first event. */
  event: SessionEvent | undefined;
  /** Error that ended following: the server refuses, or was unreachable for too long. */
  error: Error | undefined;
}

/** Servers send something every 15 s even while nothing is written. */
const MAX_SILENCE_MS = 45_000;

/**
 * Follows the state of a conversation across pauses, ends and new turns: pending questions, answers
 * given elsewhere, and whether a run is active. `useHelixChat` with `eventsUrl` does the same.
 *
 * @example
 * import { useSessionEvents } from 'helix-temporal/ai-sdk/react';
 *
 * export function Status({ id }: { id: string }) {
 *   const { event } = useSessionEvents({ eventsUrl: `/api/chat/${id}/events` });
 *   return <p>{event?.status ?? 'connecting'}</p>;
 * }
 */
export function useSessionEvents(options: UseSessionEventsOptions): SessionEvents {
  const { eventsUrl } = options;
  const [state, setState] = useState<SessionEvents>({ event: undefined, error: undefined });
  const latest = useLatest(options);
  useEffect(() => {
    setState({ event: undefined, error: undefined });
    if (eventsUrl === undefined) return undefined;
    const leave = new AbortController();
    const { fetch: send = globalThis.fetch, onEvent: _onEvent, ...patience } = latest.current;
    void follow(
      followSessionEvents(
        eventsUrl,
        send,
        toPatience({ longestSilenceMs: MAX_SILENCE_MS, ...patience }),
        leave.signal,
      ),
    );
    return () => {
      leave.abort();
    };

    async function follow(events: AsyncIterable<SessionEvent>): Promise<void> {
      try {
        for await (const event of events) {
          if (leave.signal.aborted) return;
          setState({ event, error: undefined });
          latest.current.onEvent?.(event);
        }
      } catch (cause) {
        if (leave.signal.aborted) return;
        const error = cause instanceof Error ? cause : new Error(String(cause));
        setState((before) => ({ ...before, error }));
      }
    }
  }, [eventsUrl]);
  return state;
}

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
  let exists = false;
  const open = async (): Promise<Response | null> => {
    const response = await send(url, { signal, cache: 'no-store' });
    if (!response.ok) throw new ChatRequestError(response.status, await response.text());
    return response.body === null ? null : response;
  };
  try {
    const take = (events: readonly { data: string }[]): SessionEvent[] =>
      events.map(({ data }) => JSON.parse(data) as SessionEvent);
    for await (const events of receive({ open, take }, patience, signal, false)) {
      exists ||= events.length > 0;
      yield* events;
    }
  } catch (error) {
    if (exists && error instanceof ChatRequestError && error.statusCode === 404) return;
    // A host or a proxy answered without a body, so there is nothing to follow.
    if (error instanceof ReplyBrokenError) return;
    throw error;
  }
}
