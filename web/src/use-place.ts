import { useCallback, useEffect, useState } from 'react';
import { isSessionId } from '../../protocol/ids.js';

/** The parsed address. */
interface Here {
  /** Undefined if the address tries to name a session but the id is unusable. */
  place: Place | undefined;
  /** True if this page generated the session id, so the conversation is new. */
  isMade: boolean;
}

/** Adds a new session id to an address without one, so that a reload finds it. */
function readHere(): Here {
  const named = readPlace(location.search);
  if (named !== undefined) return { place: named, isMade: history.state === named.sessionId };
  if (namesSession(location.search)) return { place: undefined, isMade: false };
  const place = placeOf(crypto.randomUUID(), readAgent(location.search));
  // The history entry's state survives a reload.
  history.replaceState(place.sessionId, '', placeSearch(place));
  return { place, isMade: true };
}

export interface Places extends Here {
  open: (sessionId: string) => void;
  openNew: () => void;
  nameAgent: (agent: string) => void;
}

/** Returns the conversation in the address bar; Back returns to the previous one. */
export function usePlace(): Places {
  const [here, setHere] = useState(readHere);
  const { sessionId, agent } = here.place ?? {};

  useEffect(() => {
    const followHistory = (): void => setHere(readHere());
    window.addEventListener('popstate', followHistory);
    return () => window.removeEventListener('popstate', followHistory);
  }, []);

  const open = useCallback(
    (next: string) => {
      const place = placeOf(next, agent);
      history.pushState(null, '', placeSearch(place));
      setHere({ place, isMade: false });
    },
    [agent],
  );
  const openNew = useCallback(() => {
    const place = placeOf(crypto.randomUUID(), agent);
    history.pushState(place.sessionId, '', placeSearch(place));
    setHere({ place, isMade: true });
  }, [agent]);

  const nameAgent = useCallback(
    (named: string) => {
      if (sessionId === undefined) return;
      const place = placeOf(sessionId, named);
      history.replaceState(history.state, '', placeSearch(place));
      setHere(({ isMade }) => ({ place, isMade }));
    },
    [sessionId],
  );

  return { ...here, open, openNew, nameAgent };
}

/** A conversation and the agent that answers in it. */
export interface Place {
  sessionId: string;
  agent?: string;
}

/** Parses a query string; returns undefined if it names no usable session. */
export function readPlace(search: string): Place | undefined {
  const query = new URLSearchParams(search);
  const sessionId = query.get('session');
  if (!isSessionId(sessionId)) return undefined;
  return placeOf(sessionId, readAgent(search));
}

/** Returns true if the address tries to name a session, usable or not. */
function namesSession(search: string): boolean {
  return new URLSearchParams(search).has('session');
}

/** A link may choose the agent and leave the session to the page. */
export function readAgent(search: string): string | undefined {
  return new URLSearchParams(search).get('agent') ?? undefined;
}

export function placeSearch(place: Place): string {
  const query = new URLSearchParams({ session: place.sessionId });
  if (place.agent !== undefined) query.set('agent', place.agent);
  return `?${query.toString()}`;
}

export function placeOf(sessionId: string, agent: string | undefined): Place {
  return agent === undefined ? { sessionId } : { sessionId, agent };
}
