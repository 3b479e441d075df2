import { LIMITS } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';

/**
 * Call ids are unique per session: a provider that repeats one gets `<id>_<n>` with the smallest
 * free n, decided before any chunk or row is written.
 */
export interface CallIds {
  toSessionId: (id: string) => string;
  /** The id of a call that was made, here or before; undefined if there is no such call. */
  known: (id: string) => string | undefined;
  /** Gives the provider's id a name that `take` says no other call has; it is given once. */
  name: (id: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  /** The call is made: the provider's id stands for another one from now on. */
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
      // Another call has it if a different one comes back.
      taken.add(wanted);
      give(id, await take(wanted));
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

/** The beginning of a text, at most so long, as whole characters. */
export function startOf(text: string, length: number): string {
  const whole = text.toWellFormed();
  const last = whole.charCodeAt(length - 1);
  const isCut = whole.length > length && last >= 0xd800 && last <= 0xdbff;
  return whole.slice(0, isCut ? length - 1 : length);
}
