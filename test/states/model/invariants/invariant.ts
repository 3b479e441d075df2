import type { Sent } from '../record/play.js';
import type { Stored } from './stored.js';

/** What must hold after every request. */
export interface Invariant {
  /** The number of the promise and what holds, as violations name it. */
  rule: string;
  /** What does not hold; undefined if all is well. */
  find: (after: Stored, before: Stored, sent: Sent) => string | undefined;
}

export function invariant(promise: `P${number}`, rule: string, find: Invariant['find']): Invariant {
  return { rule: `${promise}, ${rule}`, find };
}

export function first<T>(
  items: readonly T[],
  find: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
