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

  const openNew = useCallback(() => {
    const next = placeOf(crypto.randomUUID(), place.agent);
    history.pushState(null, '', placeSearch(next));
    setPlace(next);
  }, [place.agent]);

  const nameAgent = useCallback(
    (agent: string) => {
      const next = placeOf(place.sessionId, agent);
      history.replaceState(null, '', placeSearch(next));
      setPlace(next);
    },
    [place.sessionId],
  );

  return { place, openNew, nameAgent };
}
