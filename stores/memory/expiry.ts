import type { MemorySession, StoreContext } from './session.js';

/** Nothing of a session that is at work or waits expires. A sub-agent's goes with its conversation. */
export function keepForEver(session: MemorySession): void {
  session.expiresAt = undefined;
  session.log.expiresAt = undefined;
}

/** Arms the expiry of what has ended; a stream without a session goes as a whole. */
export function armExpiry(session: MemorySession, context: StoreContext): void {
  const { now, streamTtlSeconds, sessionTtlSeconds } = context;
  const rest = session.identity === undefined ? streamTtlSeconds : sessionTtlSeconds;
  // The stream never outlives the sequence that numbers it.
  const stream = rest > 0 ? Math.min(rest, streamTtlSeconds) : streamTtlSeconds;
  session.log.expiresAt = now + stream * 1_000;
  if (rest > 0) session.expiresAt = now + rest * 1_000;
}

/** Drops entries whose time has come; true if the whole session is gone. */
export function expire(session: MemorySession, now: number): boolean {
  if (isPast(session.expiresAt, now)) return true;
  if (isPast(session.log.expiresAt, now)) {
    session.log.entries = [];
    session.log.expiresAt = undefined;
  }
  return false;
}

function isPast(time: number | undefined, now: number): boolean {
  return time !== undefined && time <= now;
}
