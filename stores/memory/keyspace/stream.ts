import { compareIds, FIRST_ID, type StreamId } from './stream-id.js';

export interface StreamEntry {
  readonly id: StreamId;
  /** The id as Redis writes it. */
  readonly text: string;
  /** Fields and values in turn. */
  readonly fields: readonly string[];
}

export interface Stream {
  /** By id. */
  readonly entries: StreamEntry[];
  /** Stays when the entries go. */
  lastId: StreamId;
}

export function emptyStream(): Stream {
  return { entries: [], lastId: FIRST_ID };
}

export function copyStream({ entries, lastId }: Stream): Stream {
  return { entries: entries.slice(), lastId };
}

/** The first place whose id is not lower than this one. */
export function placeOfId(entries: readonly StreamEntry[], id: StreamId): number {
  return search(entries, (entry) => compareIds(entry.id, id) >= 0);
}

/** The first place whose id is higher than this one. */
export function placeBehindId(entries: readonly StreamEntry[], id: StreamId): number {
  return search(entries, (entry) => compareIds(entry.id, id) > 0);
}

function search(entries: readonly StreamEntry[], holds: (entry: StreamEntry) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && holds(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}
