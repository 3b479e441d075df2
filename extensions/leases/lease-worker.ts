import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { NO_METER, type RunMeter } from '../../protocol/telemetry.js';
import { sleep } from '../../protocol/time.js';
import { TIMES } from '../../protocol/limits.js';
import type { Liveness, LivenessDeps, TakeOver } from '../../worker/index.js';
import { createJudge } from './judge.js';
import { monotonicMs } from './renewals.js';
import { createWorkerLease, type WorkerLease } from './worker-lease.js';

export interface LeaseOptions {
  /** Prefix of the lease's name, which a supervisor may choose. Default: none, the name is random. */
  id?: string;
  /** Id of an ended process whose attempts this one takes over without delay. */
  replaces?: string;
}

/** A worker's lease together with its judge of other leases. */
export interface BegunLease extends Liveness {
  lease: WorkerLease;
}

/**
 * Begins the lease of a process before its worker runs. An early begin lets it judge other leases early,
 * so nothing here imports Temporal's packages, which load slowly.
 */
export function beginLease(deps: LeaseOptions & LivenessDeps): BegunLease {
  const begun = createLease(deps);
  begun.lease.begin();
  return begun;
}

/** Creates a lease that begins when its worker runs. */
export function createLease(deps: LeaseOptions & LivenessDeps): BegunLease {
  const { namespace, replaces, times = TIMES, logger, unansweredMs = () => 0 } = deps;
  // The random part keeps a successor with the same prefix from renewing the dead process's lease.
  const id = deps.id === undefined ? randomUUID() : `${deps.id}.${randomUUID()}`;
  const leases = { ...deps.leases.of(namespace) };
  let counts = NO_METER;
  const meter: RunMeter = (event) => counts(event);
  const lease = createWorkerLease({ leases, namespace, id, times, unansweredMs, meter, logger });
  const look = createJudge({ leases, own: lease, times, now: monotonicMs, meter, logger });
  const begin: WorkerLease['begin'] = () => {
    look().catch(() => undefined);
    return lease.begin();
  };

  /** Ends all leases of a former process, whose names begin with its id. */
  async function endFormer(former: string): Promise<void> {
    const holders = await leases.holders();
    const ended = holders.filter(
      (each) => !lease.isOwn(each) && (each === former || each.startsWith(`${former}.`)),
    );
    await Promise.all(
      ended.map(async (each) => {
        const { isEnded, isOver } = await leases.look(each);
        await leases.end(each);
        if (!isEnded && !isOver) meter({ kind: 'lease_judged' });
      }),
    );
  }

  async function watch(signal: AbortSignal, takeOver: TakeOver): Promise<void> {
    if (replaces !== undefined) {
      await endFormer(replaces).catch((error: unknown) =>
        logger.warn({ err: error }, 'the lease of the former process could not be ended'),
      );
    }
    while (!signal.aborted) {
      const nextMs = await look(takeOver).catch(() => times.renewMs);
      await sleep(nextMs, signal);
    }
  }

  return {
    lease: { ...lease, begin },
    countWith: (next) => {
      counts = next;
    },
    judge: async (signal, takeOver) => {
      // The worker can end while a look still waits for an unavailable Redis.
      await Promise.race([watch(signal, takeOver), once(signal, 'abort')]);
    },
  };
}
