import type { MemorySession, StoreContext } from '../session.js';

/** Remembers that a snapshot of this turn was handed out while the turn was active. */
export function noteSnapshot(session: MemorySession, turn: number, { now }: StoreContext): void {
  session.snapshot = { turn, at: now };
}
