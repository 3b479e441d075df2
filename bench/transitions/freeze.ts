import { Redis } from 'ioredis';
import { patternsOf, send } from './layout.js';

/** A session as it was at one moment, kept in another database of the same server. */
export interface Frozen {
  /** Puts it back. `whole`: with the sub-agents of its past, which few transitions touch. */
  thaw: (whole?: boolean) => Promise<void>;
  drop: () => Promise<void>;
}

export interface Freezer {
  /**
   * `whole` as in `thaw`; what is not kept cannot be put back. A session id may be a pattern: then it
   * is about all that match.
   */
  freeze: (prefix: string, sessionId: string, whole?: boolean) => Promise<Frozen>;
  close: () => void;
}

/**
 * Keeps sessions, so that one transition can be measured many times from the same state. Redis copies
 * the keys itself: what they hold need not be known here.
 *
 * @param database the one to keep them in; the sessions live in 0
 */
export function createFreezer(url: string, database: number): Freezer {
  const live = new Redis(url);
  const kept = new Redis(url, { db: database });
  const find = async (patterns: string[]): Promise<string[]> =>
    (await Promise.all(patterns.map((pattern) => live.keys(pattern)))).flat();
  return {
    freeze: async (prefix, sessionId, isWhole = false) => {
      const patterns = patternsOf(prefix, sessionId);
      const own = new Set(await find(patterns.own));
      const keys = isWhole ? await find(patterns.all) : [...own];
      await send(
        live,
        keys.map((key) => ['copy', key, key, 'DB', database, 'REPLACE']),
      );
      return {
        thaw: async (whole = false) => {
          const now = await find(whole ? patterns.all : patterns.own);
          const wanted = new Set(whole ? keys : keys.filter((key) => own.has(key)));
          await send(
            live,
            now.filter((key) => !wanted.has(key)).map((key) => ['unlink', key]),
          );
          await send(
            kept,
            [...wanted].map((key) => ['copy', key, key, 'DB', 0, 'REPLACE']),
          );
        },
        drop: () =>
          send(
            kept,
            keys.map((key) => ['unlink', key]),
          ),
      };
    },
    close: () => {
      live.disconnect();
      kept.disconnect();
    },
  };
}
