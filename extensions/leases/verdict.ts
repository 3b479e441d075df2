/** Times of a lease, ms. Every process measures them by its own monotonic clock. */
export interface LeaseTimes {
  /** A lease lapses after this long without a renewal. */
  leaseMs: number;
  renewMs: number;
  /** By then Temporal has dropped the polls of a dead worker. */
  graceMs: number;
  /** A judge that did not see the lease lapse waits this long, while the lease stays lapsed. */
  unseenMs: number;
  /** Started calls that may not be repeated are taken over only after this long. */
  patientMs: number;
}

export const LEASE_TIMES: LeaseTimes = {
  leaseMs: 1_500,
  renewMs: 400,
  graceMs: 300,
  unseenMs: 3_000,
  patientMs: 10_000,
};

/** What a process has seen of another worker's lease. */
export interface Sighting {
  /** When it was made. */
  at: number;
  /** When the lease was last seen held, if ever. */
  heldAt: number | undefined;
  /** When it lapsed, or was first seen lapsed; undefined while it is held. */
  lapsedAt: number | undefined;
  /** When a lease that is held now would lapse without a renewal. */
  lapsesAt: number | undefined;
  isEnded: boolean;
}

/**
 * What is known of a lease after another look. Between looks that are far apart its worker may have
 * renewed it many times, and it may have lapsed just now: then the lapse counts from this look.
 */
export function see(
  before: Sighting | undefined,
  { leftMs, isEnded }: { leftMs: number; isEnded: boolean },
  now: number,
  { renewMs }: Pick<LeaseTimes, 'renewMs'> = LEASE_TIMES,
): Sighting {
  if (leftMs > 0) {
    return { at: now, heldAt: now, lapsedAt: undefined, lapsesAt: now + leftMs, isEnded: false };
  }
  const isSoon = before !== undefined && now - before.at <= 2 * renewMs;
  const lapsesAt = isSoon ? before.lapsesAt : undefined;
  const lapsedAt = before?.lapsedAt ?? Math.min(now, lapsesAt ?? now);
  return { at: now, heldAt: before?.heldAt, lapsedAt, lapsesAt: undefined, isEnded };
}

/** Which attempts of a holder may be taken over now, and when to look again. */
export interface Verdict {
  /** `most`: all but started calls that may not be repeated. */
  takes: 'none' | 'most' | 'all';
  /** Earlier than the regular look, ms from now; absent otherwise. */
  againMs?: number;
}

/**
 * Judges a lease. A Redis that stalls, restarts or fails over lapses all leases at once, so only a
 * process whose own renewals succeeded throughout the lapse judges others soon. One that started
 * later, or had a gap of its own, needs the lease to stay lapsed for longer.
 *
 * @param steadySince since when this process' own renewals have succeeded without a gap; undefined
 * if they do not
 */
export function judgeLease(
  sighting: Sighting,
  steadySince: number | undefined,
  now: number,
  { graceMs, unseenMs, patientMs }: LeaseTimes = LEASE_TIMES,
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
