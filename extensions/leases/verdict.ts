import { TIMES, type Times } from '../../protocol/times.js';

/** Each process measures them by its own monotonic clock. */
export type LeaseTimes = Pick<Times, 'leaseMs' | 'renewMs' | 'graceMs' | 'unseenMs' | 'patientMs'>;

/** Another worker's lease as this process last saw it. */
export interface Sighting {
  /** Time of this look. */
  at: number;
  /** Time of the last look that found the lease held. */
  heldAt: number | undefined;
  /** Time of the lapse, or of the first look that found it lapsed; undefined while it is held. */
  lapsedAt: number | undefined;
  /** Time at which a held lease lapses unless it is renewed. */
  lapsesAt: number | undefined;
  isEnded: boolean;
}

/**
 * Updates a sighting by another look. Between looks that are far apart the worker may have renewed the
 * lease many times, so a lapse then counts only from this look.
 */
export function see(
  before: Sighting | undefined,
  { leftMs, isEnded }: { leftMs: number; isEnded: boolean },
  now: number,
  { renewMs }: Pick<LeaseTimes, 'renewMs'> = TIMES,
): Sighting {
  if (leftMs > 0) {
    return { at: now, heldAt: now, lapsedAt: undefined, lapsesAt: now + leftMs, isEnded: false };
  }
  const isSoon = before !== undefined && now - before.at <= 2 * renewMs;
  const lapsesAt = isSoon ? before.lapsesAt : undefined;
  const lapsedAt = before?.lapsedAt ?? Math.min(now, lapsesAt ?? now);
  return { at: now, heldAt: before?.heldAt, lapsedAt, lapsesAt: undefined, isEnded };
}

/** The attempts of a holder that may be taken over now, and the time of the next look. */
export interface Verdict {
  /** `most`: all but started calls that may not be repeated. */
  takes: 'none' | 'most' | 'all';
  /** Milliseconds until the next look, if it is due before the regular one. */
  againMs?: number;
}

/**
 * Judges a lease. A Redis that stalls, restarts or fails over lapses all leases at once, so only a
 * process whose own renewals succeeded throughout the lapse judges others soon. One that started
 * later, or had a gap of its own, needs the lease to stay lapsed for longer.
 *
 * @param steadySince start of this process's own gapless renewals; undefined if they fail
 */
export function judgeLease(
  sighting: Sighting,
  steadySince: number | undefined,
  now: number,
  { graceMs, unseenMs, patientMs }: LeaseTimes = TIMES,
): Verdict {
  const { heldAt, lapsedAt, lapsesAt, isEnded } = sighting;
  if (isEnded) return { takes: 'all' };
  if (steadySince === undefined) return { takes: 'none' };
  if (lapsedAt === undefined) {
    return { takes: 'none', ...(lapsesAt !== undefined && { againMs: lapsesAt + graceMs - now }) };
  }
  const wasSeen = heldAt !== undefined && steadySince <= heldAt;
  const since = wasSeen ? lapsedAt : Math.max(lapsedAt, steadySince);
  const forMs = now - since;
  if (forMs >= patientMs) return { takes: 'all' };
  const neededMs = wasSeen ? graceMs : unseenMs;
  return forMs >= neededMs ? { takes: 'most' } : { takes: 'none', againMs: neededMs - forMs };
}
