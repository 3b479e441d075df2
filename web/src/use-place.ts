import { useCallback, useEffect, useState } from 'react';
import {
  namesSession,
  placeOf,
  placeSearch,
  readAgent,
  readPlace,
  type Place,
} from './session-url.js';

/** What the address bar leads to. */
interface Here {
  /** Undefined: the address is meant to name a conversation, and names none. */
  place: Place | undefined;
  /** Whether this page made up the conversation, which is then known to be new. */
  isMade: boolean;
}

/** An address without a conversation gets a new one, so that a reload finds it. */
function readHere(): Here {
  const named = readPlace(location.search);
  if (named !== undefined) return { place: named, isMade: history.state === named.sessionId };
  if (namesSession(location.search)) return { place: undefined, isMade: false };
  const place = placeOf(crypto.randomUUID(), readAgent(location.search));
  // The state of the entry outlives a reload.
  history.replaceState(place.sessionId, '', placeSearch(place));
  return { place, isMade: true };
}

export interface Places extends Here {
  open: (sessionId: string) => void;
  openNew: () => void;
  nameAgent: (agent: string) => void;
}

/** The conversation in the address bar; Back returns to the one before. */
export function usePlace(): Places {
  const [here, setHere] = useState(readHere);
  const { sessionId, agent } = here.place ?? {};

  useEffect(() => {
    const followHistory = (): void => {
      setHere(readHere());
    };
    window.addEventListener('popstate', followHistory);
    return () => {
      window.removeEventListener('popstate', followHistory);
    };
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
