import type { Sent } from '../record/play.js';
import type { Stored } from './stored.js';

/** A condition that holds after every request. */
export interface Invariant {
  /** Number of the promise and its statement, for violations. */
  rule: string;
  /** Returns a description of the violation; undefined if there is none. */
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
