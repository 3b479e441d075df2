import { randomUUID } from 'node:crypto';
import { NO_METER, type RunMeter } from '../../protocol/telemetry.js';
import { sleep } from '../../protocol/time.js';
import type { Liveness, LivenessDeps, TakeOver } from '../../worker/index.js';
import { monotonicMs } from './clock.js';
import { createJudge } from './judge.js';
import { LEASE_TIMES } from './verdict.js';
import { createWorkerLease, type WorkerLease } from './worker-lease.js';

export interface LeaseOptions {
  /** How the name of this process's lease begins; a supervisor may choose it. Default: random. */
  id?: string;
  /** The lease of a process that has ended: its attempts are taken over without delay. */
  replaces?: string;
}

type LeaseDeps = LeaseOptions & LivenessDeps;

/** The lease of a worker, and its part in judging the leases of others. */
export interface BegunLease extends Liveness {
  lease: WorkerLease;
}

/**
 * Begins the lease of a process whose worker is about to run. The sooner it begins, the sooner it can
 * judge: it sees by then which leases are held. Nothing here needs Temporal, whose packages take a
 * while to load.
 */
export function beginLease(deps: LeaseDeps): BegunLease {
  const begun = createLease(deps);
  begun.lease.begin();
  return begun;
}

/** The same, for a lease that only a worker that runs begins. */
export function createLease(deps: LeaseDeps): BegunLease {
  const { namespace, replaces, logger, unansweredMs = () => 0 } = deps;
  // A successor of the same name must not renew the lease of the one that died: its attempts would wait.
  const id = [...(deps.id === undefined ? [] : [deps.id]), randomUUID()].join('.');
  const leases = { ...deps.leases.of(namespace) };
  const times = LEASE_TIMES;
  let counts = NO_METER;
  const meter: RunMeter = (event) => {
    counts(event);
  };
  const lease = createWorkerLease({ leases, namespace, id, times, unansweredMs, meter, logger });
  const look = createJudge({ leases, own: lease, times, now: monotonicMs, meter, logger });
  const begin: WorkerLease['begin'] = () => {
    look().catch(() => undefined);
    return lease.begin();
  };

  /** The names under which a process held its lease begin with its id. */
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
      await endFormer(replaces).catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of the former process could not be ended');
      });
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
    judge: (signal, takeOver) => Promise.race([watch(signal, takeOver), untilAborted(signal)]),
  };
}

/** A look that waits for an unavailable Redis does not delay the end of the worker. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
