import { useEffect, useRef } from 'react';
import type { SessionEvent } from '../../protocol/http.js';
import { isBusy } from '../client/rebuild-reply.js';
import type { SnapshotLoader, Refreshing } from './use-refresh.js';
import { useSessionEvents } from './use-session-events.js';

/** How a chat learns of what happens to its conversation elsewhere. */
export interface FollowingOptions {
  /**
   * The conversation's `…/events`. With it the page shows what happens elsewhere while no reply comes in here:
   * answers from other devices, deadlines that passed, queued turns. It is requested once the conversation
   * has a reply or a position. Leave it undefined while the page is hidden: browsers open few connections to
   * one server.
   */
  eventsUrl?: string | undefined;
  /** For the events; for headers of the application's own, and for tests. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Sequence of the snapshot that the page starts with. */
  resumeFromSequence?: number | undefined;
  /** Called with the conversation's standing, when the page opens and whenever it changes. */
  onSessionEvent?: ((event: SessionEvent) => void) | undefined;
}

/** A loader that notes up to where the page has the conversation. */
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
 * A turn that changes its state more often is short, or between two steps: when it is quiet it is shown at once, or
 * followed. To follow it, its message is taken out and replayed, which a person sees.
 */
const QUIET_MS = 200;

/** Refreshes a chat at rest whenever the conversation is beyond what the page has seen of it. */
export function useFollowing(
  chat: { status: string; messages: readonly { role: string }[] },
  options: FollowingOptions,
  seen: { current: number },
  refresh: Refreshing['refresh'],
): void {
  const { eventsUrl, fetch, resumeFromSequence = 0, onSessionEvent } = options;
  // There is nothing to follow before the first message is accepted.
  const exists = resumeFromSequence > 0 || chat.messages.some(({ role }) => role === 'assistant');
  const { event } = useSessionEvents({
    eventsUrl: exists ? eventsUrl : undefined,
    fetch,
    onEvent: onSessionEvent,
    // The page is looked at: it waits for the server as long as that takes.
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
