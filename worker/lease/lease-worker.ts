import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { RunMeter } from '../../protocol/run-meter.js';
import { sleep } from '../../protocol/time.js';
import type { Leases } from '../../stores/contract/leases.js';
import { monotonicMs } from './clock.js';
import { createJudge } from './judge.js';
import { createTakeOver } from './take-over.js';
import { LEASE_TIMES } from './verdict.js';
import { createWorkerLease, type WorkerLease } from './worker-lease.js';

export interface LeaseOptions {
  /**
   * Name of this process's lease, which no other process has had before; a supervisor may choose it.
   * Default: random.
   */
  id?: string;
  /** The lease of a process that has ended: its attempts are taken over without delay. */
  replaces?: string;
}

interface LeaseDeps extends LeaseOptions {
  leases: Leases;
  client: Client;
  namespace: string;
  unansweredMs: (() => number) | undefined;
  meter?: RunMeter | undefined;
  logger: { info: Log; warn: Log };
}
type Log = (fields: object, message: string) => void;

/** The lease of a worker, and its part in judging the leases of others. */
export function createLeaseOfWorker(deps: LeaseDeps): {
  lease: WorkerLease;
  /**
   * For a process that is about to run its worker: it sees which leases are held, so that it can
   * judge them soon if they lapse meanwhile.
   */
  begin: () => void;
  /** Watches the leases of others until the signal fires. */
  judge: (signal: AbortSignal) => Promise<void>;
} {
  const { client, namespace, id = randomUUID(), replaces, meter, logger } = deps;
  const { unansweredMs = () => 0 } = deps;
  const leases = { ...deps.leases.of(namespace) };
  const times = LEASE_TIMES;
  const lease = createWorkerLease({ leases, namespace, id, times, unansweredMs, meter, logger });
  const takeOver = createTakeOver(client);
  const look = createJudge({
    leases,
    own: lease,
    takeOver,
    times,
    now: monotonicMs,
    meter,
    logger,
  });

  /** The names under which a process held its lease begin with its id. */
  async function endFormer(former: string): Promise<void> {
    const holders = await leases.holders();
    const ended = holders.filter(
      (each) => !lease.isOwn(each) && (each === former || each.startsWith(`${former}.`)),
    );
    await Promise.all(ended.map((each) => leases.end(each)));
  }

  return {
    lease,
    begin: () => {
      lease.begin();
      look().catch(() => undefined);
    },
    judge: (signal) => Promise.race([watch(signal), untilAborted(signal)]),
  };

  async function watch(signal: AbortSignal): Promise<void> {
    if (replaces !== undefined) {
      await endFormer(replaces).catch((error: unknown) => {
        logger.warn({ err: error }, 'the lease of the former process could not be ended');
      });
    }
    while (!signal.aborted) {
      const nextMs = await look().catch(() => times.renewMs);
      await sleep(nextMs, signal);
    }
  }
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
