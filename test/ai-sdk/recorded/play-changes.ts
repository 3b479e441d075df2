import { createMemoryStores, type MemoryStores } from '../../../store/memory/index.js';
import { callOf, conversationOf, type Change } from './changes.js';

export interface Player extends MemoryStores {
  /** The store under the name by which the bridge takes it. */
  stateStore: MemoryStores['store'];
  sessionId: string;
  /** What is left to play. */
  ahead: () => readonly Change[];
  /** Plays it, and expects of it what came of it when it was recorded. */
  play: () => Promise<void>;
  /** Leaves this many out: a page has done the same. */
  skip: (count: number) => void;
}

/** A conversation as it was recorded, on stores of its own and by the clock of then. */
export function createPlayer(changes: readonly Change[]): Player {
  const [first] = changes;
  if (first === undefined) throw new Error('nothing was recorded');
  let position = 0;
  let clock = first.at;
  const stores = createMemoryStores({ now: () => clock });
  return {
    ...stores,
    stateStore: stores.store,
    sessionId: conversationOf(first),
    ahead: () => changes.slice(position),
    skip: (count) => {
      position += count;
    },
    play: async () => {
      const change = changes[position];
      if (change === undefined) throw new Error('all was played');
      const { at, name, args, result } = change;
      position += 1;
      clock = at;
      const now = await callOf(stores, name)(...toArguments(name, args));
      const where = `${String(position)}: ${name}`;
      expect([where, toOutcome(now)]).toEqual([where, toOutcome(result)]);
    },
  };
}

/** Answers were recorded before the store demanded to know that they had been checked. */
function toArguments(name: string, args: readonly unknown[]): unknown[] {
  const copies: unknown[] = structuredClone([...args]);
  if (name !== 'calls.settle') return copies;
  return copies.map((input) => ({ ...(input as object), permitted: true }));
}

/** What decides about everything later; times and random parts are each store's own. */
function toOutcome(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { kind, sequence, paused, next } = result as Record<string, unknown>;
  return { kind, sequence, paused, next };
}
