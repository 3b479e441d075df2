import type { LeaseRef, LostAttempt } from '../protocol/activities.js';
import type { RunInput } from '../protocol/run.js';

/**
 * Where workers hold leases, heartbeats are only a backstop: what a lease does not know of, the sweeper
 * finds.
 */
const LEASED = { heartbeatTimeout: '90s' } as const;

/**
 * Schedules an activity, and again for as long as its attempt is lost with its worker. Redis decides
 * what the next attempt may repeat, and counts the attempts.
 */
export async function untilKept<Outcome extends object>(
  { hasLeases }: Pick<RunInput, 'hasLeases'>,
  schedule: (options: Partial<typeof LEASED>, ref: LeaseRef) => Promise<Outcome | LostAttempt>,
): Promise<Outcome> {
  let options: Partial<typeof LEASED> = hasLeases === true ? LEASED : {};
  let ref: LeaseRef = hasLeases === true ? { isLeased: true } : {};
  for (;;) {
    const outcome = await schedule(options, ref);
    if (!isLost(outcome)) return outcome;
    const { token, number, progress, begun, moved } = outcome;
    const blockedBy = outcome.blockedBy ?? ref.replaces?.blockedBy;
    const unbegun = (ref.replaces?.unbegun ?? 0) + (begun === false ? 1 : 0);
    // A worker that was frozen, or cut off, may still have an open poll that gets the next attempt
    // and never registers it. So that one has the short time-out of an attempt without a lease.
    if (moved !== true) options = {};
    ref = {
      isLeased: true,
      replaces: {
        ...{ token, number, progress },
        ...(unbegun > 0 && { unbegun }),
        ...(blockedBy !== undefined && { blockedBy }),
      },
    };
  }
}

/** The outcomes of the earliest histories were words. */
function isLost(outcome: object | string): outcome is LostAttempt {
  return (outcome as Partial<LostAttempt>).kind === 'lost';
}
