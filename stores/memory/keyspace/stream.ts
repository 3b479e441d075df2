import { RedisError } from './reply.js';

/** Exact up to 2^53. */
export interface StreamId {
  readonly ms: number;
  readonly seq: number;
}

export interface StreamEntry {
  readonly id: StreamId;
  /** Fields and values, alternating. */
  readonly fields: readonly string[];
}

export interface Stream {
  /** By id. */
  readonly entries: StreamEntry[];
  /** Kept when the entries are removed. */
  lastId: StreamId;
}

export const FIRST_ID: StreamId = { ms: 0, seq: 0 };

export function compareIds(a: StreamId, b: StreamId): number {
  return a.ms === b.ms ? a.seq - b.seq : a.ms - b.ms;
}

export function formatId({ ms, seq }: StreamId): string {
  return `${String(ms)}-${String(seq)}`;
}

/** Parses an id that has both of its parts. */
export function parseId(text: string): StreamId {
  const [, ms, seq] = /^(\d{1,19})-(\d{1,19})$/.exec(text) ?? [];
  if (ms === undefined || seq === undefined) {
    throw new RedisError('ERR Invalid stream ID specified as stream command argument');
  }
  return { ms: Number(ms), seq: Number(seq) };
}

/** Index of the first entry whose id is not lower than this one. */
export function placeOf(entries: readonly StreamEntry[], id: StreamId): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && compareIds(entry.id, id) >= 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
