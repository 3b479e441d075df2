import { LIMITS } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';

/**
 * Makes call ids unique per session: a repeated id becomes `<id>_<n>` with the smallest free n,
 * before any chunk or row is written.
 */
export interface CallIds {
  toSessionId: (id: string) => string;
  /** Returns the id under which the session knows a provider's call, or undefined. */
  known: (id: string) => string | undefined;
  /** Names the provider's id, once; `take` returns a name that no other call has. */
  name: (id: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  /** Ends a call; the provider's id names another call from now on. */
  close: (id: string) => void;
}

export function createCallIds(used: ReadonlySet<string>): CallIds {
  const given = new Map<string, string>();
  const taken = new Set(used);
  const toUnique = (id: string): string => {
    const base = id === '' ? 'call' : startOf(id, LIMITS.idChars - 8);
    let unique = base;
    for (let n = 1; taken.has(unique); n += 1) unique = `${base}_${String(n)}`;
    return unique;
  };
  const give = (id: string, unique: string): string => {
    taken.add(unique);
    given.set(id, unique);
    return unique;
  };
  return {
    toSessionId: (id) => given.get(id) ?? give(id, toUnique(id)),
    known: (id) => given.get(id) ?? (used.has(id) ? id : undefined),
    name: async (id, take) => {
      if (given.has(id)) return;
      const wanted = toUnique(id);
      // A different answer means that another call has the wanted name.
      taken.add(wanted);
      give(id, await take(wanted));
    },
    close: (id) => {
      given.delete(id);
    },
  };
}

/** Returns the ids of all calls in the rows. */
export function callIdsOf(rows: readonly Row[]): Set<string> {
  const ids = new Set<string>();
  for (const row of rows) {
    if (row.role !== 'assistant') continue;
    for (const part of row.parts) if (part.type === 'tool-call') ids.add(part.toolCallId);
  }
  return ids;
}

/** Returns at most `length` UTF-16 units of a text and splits no character. */
export function startOf(text: string, length: number): string {
  const whole = text.toWellFormed();
  const last = whole.charCodeAt(length - 1);
  const isCut = whole.length > length && last >= 0xd800 && last <= 0xdbff;
  return whole.slice(0, isCut ? length - 1 : length);
}
