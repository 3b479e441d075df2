import type { Changes } from '../../../store/contract/store.js';
import { changing } from '../../support/session-driver.js';
import {
  callOf,
  conversationOf,
  SESSION_CALLS,
  STREAM_CALLS,
  type Stores,
  type Change,
  type ChangeName,
} from './changes.js';

type Call = (...args: unknown[]) => Promise<unknown>;

export interface Recorder<S extends Stores> {
  /** The same stores; what is changed through them is noted. */
  stores: S;
  /** What was changed in a conversation, in the order in which the store did it. */
  logOf: (sessionId: string) => Change[];
}

/** Notes what changes in stores. One change at a time, so that their order is the store's. */
export function recordChanges<S extends Stores>(stores: S): Recorder<S> {
  const log: Change[] = [];
  let last: Promise<unknown> = Promise.resolve();

  const recorded = (name: ChangeName, call: Call) => {
    return (...args: unknown[]): Promise<unknown> => {
      const change = async (): Promise<unknown> => {
        const before = Date.now();
        const result = await call(...args);
        // A deadline that has passed for the store has passed in the recording as well.
        const at = isExpiry(args) ? Date.now() : before;
        log.push({ at, name, args: args.filter((arg) => !(arg instanceof Promise)), result });
        return result;
      };
      const mine = last.then(change);
      last = mine.catch(() => undefined);
      return mine;
    };
  };
  /** The nouns of a store, or of what it gives to those who listen. */
  const noted = <C extends Changes>(changes: C): C => {
    const nouns = { ...changes } as unknown as Record<string, object>;
    for (const name of SESSION_CALLS) {
      const [noun = '', method = ''] = name.split('.');
      const methods = nouns[noun];
      if (methods === undefined) continue;
      const call = Reflect.get(methods, method) as Call | undefined;
      if (call !== undefined) nouns[noun] = { ...methods, [method]: recorded(name, call) };
    }
    return nouns as unknown as C;
  };
  const ofStream = STREAM_CALLS.map(
    (name) => [name, recorded(name, callOf(stores, name))] as const,
  );

  return {
    stores: {
      ...stores,
      store: changing(stores.store, noted),
      streamManager: { ...stores.streamManager, ...Object.fromEntries(ofStream) },
    },
    logOf: (sessionId) =>
      structuredClone(log.filter((change) => conversationOf(change) === sessionId)),
  };
}

function isExpiry([input]: unknown[]): boolean {
  return (input as { source?: string }).source === 'expiry';
}
