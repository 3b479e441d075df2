import { AttemptFailure } from '../../activities/attempt.js';
import type { Held, Lease } from '../../activities/lease.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { STORE_UNREACHABLE } from '../../protocol/temporal.js';
import { withTimeout } from '../../protocol/time.js';
import type { HeldWork } from '../../store/contract/leases.js';
import { monotonicMs, type RenewalReport } from './renewals.js';
import { startRenewing, type Renewing, type RenewingOptions } from './start-renewing.js';

/** The lease of this worker process. */
export interface WorkerLease extends Lease {
  /** Begins the lease during start-up: the earlier it renews, the earlier it may judge others. */
  begin: () => unknown;
  /** Holds the lease while the process loads its packages. */
  load: () => void;
  /** Holds the lease of a running worker: from now on a blocked main thread ends the process. */
  start: () => void;
  /** Ends renewing; idempotent. Other workers take over unfinished attempts at once. */
  close: () => Promise<void>;
  /** Current name of the lease. */
  holder: () => string;
  /** Returns true for every name under which this process has held the lease. */
  isOwn: (holder: string) => boolean;
  /** Start of the gapless renewals; undefined if they fail now. */
  steadySince: () => number | undefined;
}

interface WorkerLeaseOptions extends Omit<RenewingOptions, 'onReport'> {
  meter?: RunMeter | undefined;
}

interface Entry {
  work: HeldWork;
  holder: string;
  registered: Promise<void>;
  /** Number of calls in progress that must not be repeated. */
  patience: number;
  /** Timer that registers newer progress. */
  noting?: NodeJS.Timeout | undefined;
}

/** For this long a lease without any renewal counts as held: the renewing thread is starting. */
const STARTING_MS = 5_000;
/** A worker accepts attempts for this long after its last renewal, since a busy machine delays some. */
const UNHELD_MS = 5_000;
/** Limit for registering an attempt. Unregistered attempts are returned, as no worker would take them over. */
const REGISTER_MS = 5_000;
/** A closing worker waits for the store at most this long. */
const CLOSE_MS = 1_000;

export function createWorkerLease(options: WorkerLeaseOptions): WorkerLease {
  const { leases, id, times, unansweredMs, logger } = options;
  const entries = new Map<string, Entry>();
  // Not an EventEmitter: users choose session ids, and `error` would be one.
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

  const fails = (what: string) => (error: unknown) => logger.warn({ err: error }, what);

  /** @throws HelixError if the store does not take the entry */
  function register(entry: Entry): Promise<void> {
    const { work, patience } = entry;
    const held = patience > 0 ? { ...work, isPatient: true } : work;
    // The lease must be listed before anything is registered under it.
    const registered = begin().begun.then(() => leases.hold(entry.holder, held));
    entry.registered = registered.catch(fails('an attempt could not be registered'));
    return registered;
  }

  /** @throws AttemptFailure if the store does not take the entry in time */
  const registerInTime = (entry: Entry): Promise<void> =>
    withTimeout(REGISTER_MS, register(entry)).catch(() => {
      throw new AttemptFailure('the store does not answer', { type: STORE_UNREACHABLE });
    });

  /**
   * Continues under a new name after another worker has judged this living one. Attempts that were taken
   * over are fenced off once their successors claim them; a result before that still counts.
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
    const registered = registerInTime(entry);
    // If the attempt ends for another reason, nobody awaits this promise.
    registered.catch(() => undefined);
    return {
      registered,
      becomePatient: () => {
        entry.patience += 1;
        // If another call of the attempt already asked for it, this one waits for the same write.
        const noted = entry.patience === 1 ? registerInTime(entry) : entry.registered;
        // A call that is refused awaits no note.
        noted.catch(() => undefined);
        return {
          noted,
          end: () => {
            entry.patience -= 1;
            if (entry.patience > 0 || !entries.has(work.id)) return;
            register(entry).catch(() => undefined);
          },
        };
      },
      executing: (call) => begin().executing({ ...call, workId: work.id }),
      note: (progress) => {
        work.progress = progress;
        // A leg may take many steps a second; writing its whole progress for each would cost too much.
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
    await withTimeout<unknown>(CLOSE_MS, gone).catch(() => {
      // A process that never reached the store ends with a line about that.
      if (newest !== undefined) logger.warn({}, 'the lease could not be returned, and expires');
    });
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
    isHeld: () => {
      // Renewals stop while writes are not answered, so an attempt begun now might be seen by no judge.
      if (unansweredMs() >= times.unresponsiveMs) return false;
      return newest === undefined
        ? monotonicMs() - (startedAt ?? 0) < STARTING_MS
        : renewedWithin(UNHELD_MS);
    },
    begin,
    load: () => begin().load(),
    start: () => begin().run(),
    close: () => (closing ??= close()),
    holder: () => holder,
    isOwn: (other) => other === id || other.startsWith(`${id}.`),
    steadySince: () => (renewedWithin(times.leaseMs) ? newest?.steadySince : undefined),
  };
}
