import type { Row } from '../protocol/rows.js';
import type { SessionStore } from '../stores/session-store.js';

/** Rows are immutable, so what was read once stays true: only new rows are loaded. */
export interface RowsCache {
  /** `born` tells a session from an erased one of the same id. */
  load: (session: { sessionId: string; born: string }, count: number) => Promise<readonly Row[]>;
}

const MAX_SESSIONS = 500;

export function createRowsCache(store: Pick<SessionStore, 'readRows'>): RowsCache {
  // A Map keeps insertion order, so the first key is the one used longest ago.
  const sessions = new Map<string, readonly Row[]>();
  return {
    load: async ({ sessionId, born }, count) => {
      const key = `${sessionId}/${born}`;
      const cached = sessions.get(key) ?? [];
      // More rows than the store has: it was restored.
      const kept = cached.length <= count ? cached : [];
      const fresh = kept.length < count ? await store.readRows(sessionId, kept.length, count) : [];
      const rows = [...kept, ...fresh];
      sessions.delete(key);
      sessions.set(key, rows);
      const oldest = sessions.keys().next();
      if (sessions.size > MAX_SESSIONS && !oldest.done) sessions.delete(oldest.value);
      return rows;
    },
  };
}
