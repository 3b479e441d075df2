import { useCallback, useMemo } from 'react';
import { isSessionId, randomId } from '../../protocol/ids.js';
import { goTo, useAddress } from './address.js';

export interface Places {
  /** Undefined if the address tries to name a session but the id is unusable. */
  place: Place | undefined;
  /** True if this page generated the session id, so the conversation is new. */
  isMade: boolean;
  open: (sessionId: string) => void;
  openNew: () => void;
  nameAgent: (agent: string) => void;
}

/** A conversation and the agent that answers in it. */
export interface Place {
  sessionId: string;
  agent: string | undefined;
}

/** Reads the query of the address. Adds a session id to one without, so that a reload finds it. */
function readSearch(): string {
  if (!new URLSearchParams(location.search).has('session')) {
    const sessionId = randomId();
    const agent = readAgent(location.search);
    // The history entry's state survives a reload.
    history.replaceState(sessionId, '', placeSearch({ sessionId, agent }));
  }
  return location.search;
}

/** Returns the conversation in the address bar; Back returns to the previous one. */
export function usePlace(): Places {
  const search = useAddress(readSearch);
  const place = useMemo(() => readPlace(search), [search]);
  const { sessionId } = place ?? {};
  const agent = readAgent(search);
  const open = useCallback(
    (next: string) => goTo(placeSearch({ sessionId: next, agent })),
    [agent],
  );
  const openNew = useCallback(() => {
    const made = randomId();
    goTo(placeSearch({ sessionId: made, agent }), { state: made });
  }, [agent]);
  const nameAgent = useCallback(
    (named: string) => {
      if (sessionId === undefined) return;
      const kept = { state: history.state as unknown, replace: true };
      goTo(placeSearch({ sessionId, agent: named }), kept);
    },
    [sessionId],
  );
  const isMade = sessionId !== undefined && history.state === sessionId;
  return { place, isMade, open, openNew, nameAgent };
}

/** Parses a query string; returns undefined if it names no usable session. */
export function readPlace(search: string): Place | undefined {
  const sessionId = new URLSearchParams(search).get('session');
  return isSessionId(sessionId) ? { sessionId, agent: readAgent(search) } : undefined;
}

/** A link may choose the agent and leave the session to the page. */
export function readAgent(search: string): string | undefined {
  return new URLSearchParams(search).get('agent') ?? undefined;
}

export function placeSearch({ sessionId, agent }: Place): string {
  const query = new URLSearchParams({ session: sessionId });
  if (agent !== undefined) query.set('agent', agent);
  return `?${query.toString()}`;
}
