import { EventEmitter, once } from 'node:events';

/** Something open that can be closed while it is unused. */
export interface Holder {
  isIdle: () => boolean;
  close: () => void;
}

/** A bounded number of places, for which the holder that was unused longest makes room. */
export interface Places {
  /** @throws AbortError if all are in use until then */
  take: (holder: Holder, signal: AbortSignal) => Promise<void>;
  /** Used again, or used no more. */
  touch: (holder: Holder) => void;
  giveBack: (holder: Holder) => void;
}

const CHANGE = 'change';

export function createPlaces(most: number): Places {
  /** Least recently used first. */
  const held = new Set<Holder>();
  const changes = new EventEmitter().setMaxListeners(0);

  return {
    take: async (holder, signal) => {
      while (held.size >= most) {
        const idle = [...held].find((each) => each.isIdle());
        if (idle === undefined) await once(changes, CHANGE, { signal });
        else {
          held.delete(idle);
          idle.close();
        }
      }
      held.add(holder);
    },
    touch: (holder) => {
      if (held.delete(holder)) held.add(holder);
      changes.emit(CHANGE);
    },
    giveBack: (holder) => {
      held.delete(holder);
      changes.emit(CHANGE);
    },
  };
}
