import { RedisError } from './reply.js';

/** Exact up to 2^53. */
export interface StreamId {
  readonly ms: number;
  readonly seq: number;
}

export interface StreamEntry {
  readonly id: StreamId;
  /** Fields and values in turn. */
  readonly fields: readonly string[];
}

export interface Stream {
  /** By id. */
  readonly entries: StreamEntry[];
  /** Stays when the entries go. */
  lastId: StreamId;
}

export const FIRST_ID: StreamId = { ms: 0, seq: 0 };

export function compareIds(a: StreamId, b: StreamId): number {
  return a.ms === b.ms ? a.seq - b.seq : a.ms - b.ms;
}

export function formatId({ ms, seq }: StreamId): string {
  return `${String(ms)}-${String(seq)}`;
}

/** An id with both of its parts. */
export function parseId(text: string): StreamId {
  const [, ms, seq] = /^(\d{1,19})-(\d{1,19})$/.exec(text) ?? [];
  if (ms === undefined || seq === undefined) {
    throw new RedisError('ERR Invalid stream ID specified as stream command argument');
  }
  return { ms: Number(ms), seq: Number(seq) };
}

/** The first place whose id is not lower than this one. */
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
