import { LIMITS, startOf } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';

/**
 * Makes call ids unique per session: a repeated id becomes `<id>_<n>` with the smallest free n,
 * before any chunk or row is written.
 */
export class CallIds {
  readonly #used: ReadonlySet<string>;
  readonly #taken: Set<string>;
  readonly #given = new Map<string, string>();

  constructor(used: ReadonlySet<string>) {
    this.#used = used;
    this.#taken = new Set(used);
  }

  toSessionId(id: string): string {
    return this.#given.get(id) ?? this.#give(id, this.#toUnique(id));
  }

  /** Returns the id under which the session knows a provider's call, or undefined. */
  known(id: string): string | undefined {
    return this.#given.get(id) ?? (this.#used.has(id) ? id : undefined);
  }

  /** Names the provider's id, once; `take` returns a name that no other call has. */
  async name(id: string, take: (wanted: string) => Promise<string>): Promise<void> {
    if (this.#given.has(id)) return;
    const wanted = this.#toUnique(id);
    // A different answer means that another call has the wanted name.
    this.#taken.add(wanted);
    this.#give(id, await take(wanted));
  }

  /** Ends a call; the provider's id names another call from now on. */
  close(id: string): void {
    this.#given.delete(id);
  }

  #toUnique(id: string): string {
    const base = id === '' ? 'call' : startOf(id, LIMITS.idChars - 8);
    let unique = base;
    for (let n = 1; this.#taken.has(unique); n += 1) unique = `${base}_${String(n)}`;
    return unique;
  }

  #give(id: string, unique: string): string {
    this.#taken.add(unique);
    this.#given.set(id, unique);
    return unique;
  }
}

export function callIdsOf(rows: readonly Row[]): Set<string> {
  const ids = new Set<string>();
  for (const row of rows) {
    if (row.role !== 'assistant') continue;
    for (const part of row.parts) if (part.type === 'tool-call') ids.add(part.toolCallId);
  }
  return ids;
}
