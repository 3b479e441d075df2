import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../protocol/rows.js';
import type { Sessions } from '../store/contract/sessions.js';

/**
 * Caches rows, which are immutable, so that only new rows are loaded. The newest cached row of a reply is loaded again
 * and compared: a store that came back older may have stored other rows at the same indexes since.
 */
export interface RowsCache {
  /** Returns the cached rows of a session, which the store need not send. */
  held: (sessionId: string) => { born: string; rows: number };
  /**
   * `born` tells a session from an erased one with its id, and from itself before a rewind.
   *
   * @param given rows, from the index `from`, that the caller has already read
   */
  load: (
    session: { sessionId: string; born: string },
    count: number,
    given?: { from: number; rows: readonly Row[] },
  ) => Promise<readonly Row[]>;
}

interface CachedRows {
  born: string;
  rows: readonly Row[];
  bytes: number;
}

/** Memory for transcripts per worker; the least recently used are dropped first. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Rows per read, so that a transcript does not block a store that serves requests in sequence. */
const PAGE = 50;

export function createRowsCache(sessions: Pick<Sessions, 'rows'>, maxBytes = MAX_BYTES): RowsCache {
  // A Map keeps insertion order, so the first key is the least recently used.
  const cache = new Map<string, CachedRows>();
  let total = 0;

  function forget(key: string): void {
    total -= cache.get(key)?.bytes ?? 0;
    cache.delete(key);
  }

  function keep(key: string, cached: CachedRows): void {
    forget(key);
    // A transcript that would displace all others is loaded again each time.
    if (cached.bytes > maxBytes) return;
    cache.set(key, cached);
    total += cached.bytes;
    for (const oldest of cache.keys()) {
      if (total <= maxBytes) return;
      forget(oldest);
    }
  }

  async function read(sessionId: string, from: number, count: number): Promise<readonly Row[]> {
    const pages: Promise<Row[]>[] = [];
    for (let at = from; at < count; at += PAGE) {
      pages.push(sessions.rows(sessionId, at, Math.min(at + PAGE, count)));
    }
    return (await Promise.all(pages)).flat();
  }

  const load: RowsCache['load'] = async (session, count, given) => {
    const { sessionId, born } = session;
    const found = cache.get(sessionId);
    const cached: CachedRows = found?.born === born ? found : { born, rows: [], bytes: 0 };
    const from = newestReply(cached.rows);
    const isGiven = given?.from === from && from + given.rows.length === count;
    const fresh = isGiven ? given.rows : await read(sessionId, from, count);
    if (from > 0 && !isDeepStrictEqual(fresh[0], cached.rows[from])) {
      forget(sessionId);
      return load(session, count);
    }
    const rows = [...cached.rows.slice(0, from), ...fresh];
    const bytes = cached.bytes - roughBytes(cached.rows.slice(from)) + roughBytes(fresh);
    keep(sessionId, { born, rows, bytes });
    return rows;
  };

  return {
    load,
    held: (sessionId) => {
      const { born = '', rows = [] } = cache.get(sessionId) ?? {};
      return { born, rows: newestReply(rows) };
    },
  };
}

/** Returns the index of the newest row that no person wrote, or 0. People may send the same message again. */
function newestReply(rows: readonly Row[]): number {
  return Math.max(
    rows.findLastIndex(({ role }) => role !== 'user'),
    0,
  );
}

/** Estimates a value's memory: two bytes a character, plus object overhead. */
function roughBytes(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length * 2;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 32;
  for (const inner of Object.values(value)) sum += 16 + roughBytes(inner);
  return sum;
}
