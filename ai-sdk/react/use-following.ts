import { useEffect, useRef } from 'react';
import type { SessionEvent } from '../../protocol/replies.js';
import { isBusy } from '../client/rebuild-reply.js';
import type { SnapshotLoader, Refreshing } from './use-refresh.js';
import { useSessionEvents } from './use-session-events.js';

/** Options for following events of a conversation elsewhere. */
export interface FollowingOptions {
  /**
   * URL of the conversation's `…/events`. While no reply arrives, the page then shows answers from
   * other devices, passed deadlines and queued turns. It is requested once there is a reply or
   * position. Leave it undefined while the page is hidden: browsers limit connections to one
   * server.
   */
  eventsUrl?: string | undefined;
  /** Requests the events; for the application's own headers, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Sequence of the snapshot with which the page starts. */
  resumeFromSequence?: number | undefined;
  /** Called with the conversation's state when the page opens and after each change. */
  onSessionEvent?: ((event: SessionEvent) => void) | undefined;
}

/** Wraps the loader to record the sequence up to which the page has the conversation. */
export function useNotedLoader<M>(
  sessionId: string,
  load: SnapshotLoader<M> | undefined,
  first = -1,
): { load: SnapshotLoader<M> | undefined; seen: { current: number } } {
  const seen = useRef(first);
  const shownId = useRef(sessionId);
  useEffect(() => {
    if (shownId.current !== sessionId) seen.current = first;
    shownId.current = sessionId;
  }, [sessionId, first]);
  if (load === undefined) return { load, seen };
  const noting: SnapshotLoader<M> = async (chatId) => {
    const snapshot = await load(chatId);
    if (chatId === shownId.current) seen.current = snapshot?.streamSequence ?? seen.current;
    return snapshot;
  };
  return { load: noting, seen };
}

/**
 * Quiet time before a refresh, ms: a turn that changes faster is short, or between two steps. To
 * follow a turn, the page removes and replays its message visibly.
 */
const QUIET_MS = 200;

/** Refreshes a chat at rest when the conversation is ahead of the page. */
export function useFollowing(
  chat: { status: string; messages: readonly { role: string }[] },
  options: FollowingOptions,
  seen: { current: number },
  refresh: Refreshing['refresh'],
): void {
  const { eventsUrl, fetch, resumeFromSequence = 0, onSessionEvent } = options;
  // Nothing exists to follow before the first message is accepted.
  const exists = resumeFromSequence > 0 || chat.messages.some(({ role }) => role === 'assistant');
  const { event } = useSessionEvents({
    eventsUrl: exists ? eventsUrl : undefined,
    fetch,
    onEvent: onSessionEvent,
    // A person looks at the page, so it waits for the server without limit.
    giveUpAfterMs: Infinity,
  });
  const isAtRest = !isBusy(chat);
  useEffect(() => {
    if (event === undefined || !isAtRest) return undefined;
    const timer = setTimeout(() => {
      refresh({}, () => event.sequence > seen.current).catch(() => undefined);
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [event, isAtRest, seen, refresh]);
}
