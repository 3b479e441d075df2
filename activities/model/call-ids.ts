import { LIMITS } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';

/**
 * Call ids are unique per session: a provider that repeats one gets `<id>_<n>` with the smallest
 * free n, decided before any chunk or row is written.
 */
export interface CallIds {
  toSessionId: (id: string) => string;
  /** The call is made: the provider's id stands for another one from now on. */
  close: (id: string) => void;
}

export function createCallIds(used: ReadonlySet<string>): CallIds {
  const given = new Map<string, string>();
  const taken = new Set(used);
  return {
    toSessionId: (id) => {
      const known = given.get(id);
      if (known !== undefined) return known;
      const base = id === '' ? 'call' : id.slice(0, LIMITS.idChars - 8);
      let unique = base;
      for (let n = 1; taken.has(unique); n += 1) unique = `${base}_${String(n)}`;
      taken.add(unique);
      given.set(id, unique);
      return unique;
    },
    close: (id) => {
      given.delete(id);
    },
  };
}

/** Ids of all calls that rows hold. */
export function callIdsOf(rows: readonly Row[]): Set<string> {
  const ids = new Set<string>();
  for (const row of rows) {
    if (row.role !== 'assistant') continue;
    for (const part of row.parts) if (part.type === 'tool-call') ids.add(part.toolCallId);
  }
  return ids;
}
