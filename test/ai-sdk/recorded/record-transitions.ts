import type { Store } from '../../../stores/contract/store.js';
import {
  callOf,
  conversationOf,
  SESSION_CALLS,
  STREAM_CALLS,
  type Stores,
  type Transition,
  type TransitionName,
} from './transitions.js';

export interface Recorder<S extends Stores> {
  /** The same stores; what is changed through them is noted. */
  stores: S;
  /** What was changed in a conversation, in the order in which the store did it. */
  logOf: (sessionId: string) => Transition[];
}

/** Notes what changes in stores. One change at a time, so that their order is the store's. */
export function recordTransitions<S extends Stores>(stores: S): Recorder<S> {
  const log: Transition[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const recorded = (name: TransitionName) => {
    const call = callOf(stores, name);
    return (...args: unknown[]): Promise<unknown> => {
      const change = async (): Promise<unknown> => {
        const before = Date.now();
        const result = await call(...args);
        // A deadline that has passed for the store has passed in the recording as well.
        log.push({ at: isExpiry(args) ? Date.now() : before, name, args, result });
        return result;
      };
      const mine = last.then(change);
      last = mine.catch(() => undefined);
      return mine;
    };
  };
  /** Those of one noun, or of the stream. */
  const noted = (names: readonly TransitionName[], prefix = ''): object =>
    Object.fromEntries(
      names
        .filter((name) => name.startsWith(prefix))
        .map((name) => [name.slice(prefix.length), recorded(name)]),
    );
  const nouns = Object.entries(stores.store).map(([noun, methods]: [string, object]) => [
    noun,
    { ...methods, ...noted(SESSION_CALLS, `${noun}.`) },
  ]);

  return {
    stores: {
      ...stores,
      store: Object.fromEntries(nouns) as Store,
      streamManager: { ...stores.streamManager, ...noted(STREAM_CALLS) },
    },
    logOf: (sessionId) =>
      structuredClone(log.filter((transition) => conversationOf(transition) === sessionId)),
  };
}

function isExpiry([input]: unknown[]): boolean {
  return (input as { source?: string }).source === 'expiry';
}
