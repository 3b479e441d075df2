import { AttemptFailure } from '../../activities/attempt-failure.js';
import type { Held, Lease } from '../../activities/lease.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { STORE_UNREACHABLE } from '../../protocol/temporal-names.js';
import { withTimeout } from '../../protocol/time.js';
import type { HeldWork, Leases } from '../../store/contract/leases.js';
import { monotonicMs } from './clock.js';
import type { RenewalReport } from './renewals.js';
import { startRenewing, type Renewing } from './start-renewing.js';
import type { LeaseTimes } from './verdict.js';

/** The lease of this worker process. */
export interface WorkerLease extends Lease {
  /** Begins it while the process starts: what it sees of others from then on counts. */
  begin: () => unknown;
  /** Holds it while the process loads its packages. */
  load: () => void;
  /** Holds it as a worker that runs: a main thread that stands still ends the process. */
  start: () => void;
  /**
   * Ends renewing; repeated calls do nothing more. Attempts that are left are taken over by another
   * worker at once.
   */
  close: () => Promise<void>;
  /** The name under which it is held now. */
  holder: () => string;
  /** True for every name under which this process has held it. */
  isOwn: (holder: string) => boolean;
  /** Since when renewals have succeeded without a gap; undefined if they do not now. */
  steadySince: () => number | undefined;
}

export interface WorkerLeaseOptions {
  /** Those of the worker's namespace. */
  leases: Leases;
  namespace: string;
  id: string;
  times: LeaseTimes;
  unansweredMs: () => number;
  meter?: RunMeter | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

interface Entry {
  work: HeldWork;
  holder: string;
  registered: Promise<void>;
  /** Calls that may not be repeated, now in progress. */
  patience: number;
  /** Set while newer progress waits to be registered. */
  noting?: NodeJS.Timeout | undefined;
}

/** The thread that renews the lease has started by then. */
const STARTING_MS = 5_000;
/** A worker takes attempts for this long after its last renewal: a busy machine delays some. */
const UNHELD_MS = 5_000;
/** An attempt that cannot be registered is given back, since no worker would take it over. */
const REGISTER_MS = 5_000;
/** The end of a worker does not wait longer than this for the store. */
const CLOSE_MS = 1_000;

export function createWorkerLease(options: WorkerLeaseOptions): WorkerLease {
  const { leases, id, times, logger } = options;
  const entries = new Map<string, Entry>();
  // No emitter of events: users choose the ids of sessions, and `error` is one.
  const stopped = new Map<string, Set<(runId: string) => void>>();
  let holder = id;
  let newest: RenewalReport | undefined;
  let renewing: Renewing | undefined;
  let startedAt: number | undefined;
  let closing: Promise<void> | undefined;

  function begin(): Renewing {
    startedAt ??= monotonicMs();
    renewing ??= startRenewing({ ...options, onReport });
    return renewing;
  }

  const fails = (what: string) => (error: unknown) => {
    logger.warn({ err: error }, what);
  };

  /** @throws HelixError if the store does not take the entry */
  function register(entry: Entry): Promise<void> {
    const { work, patience } = entry;
    const held = patience > 0 ? { ...work, isPatient: true } : work;
    // Before anything is registered the lease is listed.
    const registered = begin().begun.then(() => leases.hold(entry.holder, held));
    entry.registered = registered.catch(fails('an attempt could not be registered'));
    return registered;
  }

  /**
   * Another worker judged the lease although this process lives. What was taken over is fenced off
   * once its successor claims it; should it end before that, its result counts.
   */
  async function continueAs(next: string): Promise<void> {
    const former = holder;
    holder = next;
    options.meter?.({ kind: 'lease_lost' });
    logger.warn({ holder: next }, 'another worker has judged this one; it continues as a new one');
    const moves = [...entries.values()].map(async (entry) => {
      await entry.registered;
      const isTaken = !(await leases.release(former, entry.work.id));
      if (isTaken || !entries.has(entry.work.id)) return;
      entry.holder = next;
      await register(entry);
    });
    await Promise.all(moves);
  }

  function onReport(report: RenewalReport): void {
    newest = report;
    for (const { sessionId, runId } of report.stops) {
      for (const listener of [...(stopped.get(sessionId) ?? [])]) listener(runId);
    }
    if (report.holder === holder) return;
    continueAs(report.holder).catch(fails('attempts could not be registered again'));
  }

  function hold(work: HeldWork): Held {
    const entry: Entry = { work, holder, registered: Promise.resolve(), patience: 0 };
    entries.set(work.id, entry);
    const registered = withTimeout(REGISTER_MS, register(entry)).catch(() => {
      throw new AttemptFailure('the store does not answer', { type: STORE_UNREACHABLE });
    });
    // Its attempt may have ended for another reason.
    registered.catch(() => undefined);
    return {
      registered,
      becomePatient: async () => {
        entry.patience += 1;
        // Other calls of the same attempt may have asked for it: each waits until it is stored.
        await (entry.patience === 1 ? register(entry) : entry.registered);
        return () => {
          entry.patience -= 1;
          if (entry.patience > 0 || !entries.has(work.id)) return;
          register(entry).catch(() => undefined);
        };
      },
      executing: (call) => begin().executing({ ...call, workId: work.id }),
      note: (progress) => {
        work.progress = progress;
        // A leg may take many steps a second, and each of them would write the whole of it.
        entry.noting ??= setTimeout(() => {
          entry.noting = undefined;
          if (entries.has(work.id)) register(entry).catch(() => undefined);
        }, times.renewMs).unref();
      },
      release: () => {
        clearTimeout(entry.noting);
        entries.delete(work.id);
        entry.registered
          .then(() => leases.release(entry.holder, work.id))
          .catch(fails('an attempt could not be removed'));
      },
    };
  }

  async function close(): Promise<void> {
    renewing?.stop();
    const gone = entries.size === 0 ? leases.forget(holder) : leases.end(holder);
    await withTimeout<unknown>(CLOSE_MS, gone).catch(fails('the lease could not be returned'));
  }

  const renewedWithin = (ms: number): boolean =>
    newest !== undefined && monotonicMs() - newest.sentAt < ms;

  return {
    hold,
    onStop: (sessionId, listener) => {
      const listeners = stopped.get(sessionId) ?? new Set();
      stopped.set(sessionId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && stopped.get(sessionId) === listeners) stopped.delete(sessionId);
      };
    },
    isHeld: () =>
      newest === undefined
        ? monotonicMs() - (startedAt ?? 0) < STARTING_MS
        : renewedWithin(UNHELD_MS),
    begin,
    load: () => {
      begin().load();
    },
    start: () => {
      begin().run();
    },
    close: () => (closing ??= close()),
    holder: () => holder,
    isOwn: (other) => other === id || other.startsWith(`${id}.`),
    steadySince: () => {
      return renewedWithin(times.leaseMs) ? newest?.steadySince : undefined;
    },
  };
}
