import { useCallback, useEffect, useState } from 'react';
import { placeOf, placeSearch, readAgent, readPlace, type Place } from './session-url.js';

/** Makes a conversation where the address names none, and puts it there, so that a reload finds it. */
function currentPlace(): Place {
  const named = readPlace(location.search);
  if (named !== undefined) return named;
  const made = placeOf(crypto.randomUUID(), readAgent(location.search));
  history.replaceState(null, '', placeSearch(made));
  return made;
}

export interface Places {
  place: Place;
  open: (sessionId: string) => void;
  openNew: () => void;
  nameAgent: (agent: string) => void;
}

/** The conversation in the address bar; Back returns to the one before. */
export function usePlace(): Places {
  const [place, setPlace] = useState(currentPlace);

  useEffect(() => {
    const followHistory = (): void => {
      setPlace(currentPlace());
    };
    window.addEventListener('popstate', followHistory);
    return () => {
      window.removeEventListener('popstate', followHistory);
    };
  }, []);

  const open = useCallback(
    (sessionId: string) => {
      const next = placeOf(sessionId, place.agent);
      history.pushState(null, '', placeSearch(next));
      setPlace(next);
    },
    [place.agent],
  );
  const openNew = useCallback(() => {
    open(crypto.randomUUID());
  }, [open]);

  const nameAgent = useCallback(
    (agent: string) => {
      const next = placeOf(place.sessionId, agent);
      history.replaceState(null, '', placeSearch(next));
      setPlace(next);
    },
    [place.sessionId],
  );

  return { place, open, openNew, nameAgent };
}
