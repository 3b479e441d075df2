import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Leases, LeaseThread } from '../../store/contract/leases.js';
import { monotonicMs } from './clock.js';
import { startPulse } from './pulse.js';
import { createRenewals, type RenewalReport, type Suspect } from './renewals.js';
import type { ThreadInput } from './thread.js';
import type { LeaseTimes } from './verdict.js';

export interface RenewingOptions {
  leases: Leases;
  namespace: string;
  id: string;
  times: LeaseTimes;
  unansweredMs: () => number;
  logger: { warn: (fields: object, message: string) => void };
  onReport: (report: RenewalReport) => void;
}

export interface Renewing {
  /** Resolves once the lease is listed, or could not be. */
  begun: Promise<void>;
  /** Renews it for as long as the process lives, also while its packages load. */
  load: () => void;
  /** The worker runs: from now on a main thread that stands still ends the process. */
  run: () => void;
  /** Notes what a tool executes, until the returned function is called. */
  executing: (call: Suspect) => () => void;
  stop: () => void;
}

/** Renewals that last until they are stopped. */
type Lasting = Pick<Renewing, 'run' | 'executing' | 'stop'>;

const IDLE = { isRunning: () => false, suspect: () => undefined };
/** A main thread that renews itself is watched by nobody. */
const UNWATCHED = { run: () => undefined, executing: () => () => undefined };

/** A process that starts is busy, and renews for this long at once. */
const STARTING_MS = 5_000;
/** A process that has not run its worker by then may never do so. */
const NEVER_RUN_MS = 30_000;
/** A thread that ended is started again after this long. */
const AGAIN_MS = 1_000;

/**
 * Renews a lease: at first on this thread, and once `load` or `run` is called in a thread of its own, or on
 * this one if the store cannot be opened in another thread, as the one in memory.
 */
export function startRenewing(options: RenewingOptions): Renewing {
  const { leases, times } = options;
  const next = inSequence(options.onReport, times.leaseMs, monotonicMs);
  const first = renewHere({ ...options, onReport: next() }, STARTING_MS);
  const unused = setTimeout(first.stop, NEVER_RUN_MS).unref();
  let lasting: Lasting | undefined;

  function load(): Lasting {
    clearTimeout(unused);
    // It takes a while until another thread has started.
    const source = (): ((report: RenewalReport) => void) => {
      const onReport = next();
      return (report) => {
        first.stop();
        onReport(report);
      };
    };
    lasting ??=
      leases.thread === undefined
        ? { ...renewHere({ ...options, onReport: source() }), ...UNWATCHED }
        : renewInThread(options, leases.thread, source);
    return lasting;
  }

  return {
    begun: first.begun,
    load,
    run: () => {
      load().run();
    },
    executing: (call) => lasting?.executing(call) ?? (() => undefined),
    stop: () => {
      clearTimeout(unused);
      first.stop();
      lasting?.stop();
    },
  };
}

function renewHere(
  options: RenewingOptions,
  forMs?: number,
): { begun: Promise<void>; stop: () => void } {
  const { times } = options;
  let ticks = 0;
  const renewals = createRenewals({
    ...options,
    forMs,
    now: monotonicMs,
    pulse: { ticks: () => ticks, unansweredMs: options.unansweredMs, ...IDLE },
    onHung: () => undefined,
  });
  const turn = (): Promise<void> => {
    ticks += 1;
    return renewals.turn();
  };
  const timer = setInterval(() => void turn(), times.renewMs);
  timer.unref();
  return {
    begun: turn(),
    stop: () => {
      clearInterval(timer);
    },
  };
}

function renewInThread(
  options: RenewingOptions,
  opening: LeaseThread,
  source: () => RenewingOptions['onReport'],
): Lasting {
  const { namespace, id, times, unansweredMs, logger } = options;
  const pulse = startPulse(unansweredMs);
  let isStopped = false;
  let hasRenewed = false;
  let thread: Worker | undefined;
  let here: { stop: () => void } | undefined;

  /** In some bundled programs the thread's file cannot be found: a busy main thread renews late. */
  function fallBack(): void {
    if (isStopped) return;
    logger.warn({}, 'the main thread renews the lease, since no other thread can');
    here ??= renewHere({ ...options, onReport: source() });
  }

  function start(): void {
    const input: ThreadInput = {
      opening: { ...opening, module: builtOf(opening.module) },
      namespace,
      id,
      times,
      pulse: pulse.shared,
      endsHung: debuggerUrl() === undefined,
    };
    const file = builtOf(new URL('./thread.js', import.meta.url).href, import.meta.url);
    thread = new Worker(new URL(file), { workerData: input, name: 'lease' });
    thread.unref();
    const onReport = source();
    thread.on('message', (report: RenewalReport) => {
      hasRenewed = true;
      onReport(report);
    });
    thread.on('error', (error) => {
      logger.warn({ err: error }, 'the thread that renews the lease has failed');
    });
    thread.once('exit', () => {
      if (!hasRenewed) fallBack();
      else if (!isStopped) setTimeout(start, AGAIN_MS).unref();
    });
  }
  try {
    start();
  } catch (error) {
    logger.warn({ err: error }, 'the thread that renews the lease cannot start');
    fallBack();
  }
  return {
    run: pulse.run,
    executing: pulse.executing,
    stop: () => {
      isStopped = true;
      here?.stop();
      pulse.stop();
      thread?.postMessage('stop');
    },
  };
}

/** Node runs no TypeScript in a thread, so uncompiled sources start the built file. */
function builtOf(module: string, of = module): string {
  if (!of.endsWith('.ts')) return module;
  return module.replace(/\/((?:store|extensions)\/[^/]+\/[^/]+)\.[jt]s$/, '/dist/$1.js');
}

/**
 * Joins the reports of several sources, of which each takes over from the one before: as long as
 * there is no gap between them, renewals have succeeded since the first one's.
 *
 * @param now a clock that all sources share, ms
 * @returns begins another source
 */
export function inSequence(
  onReport: (report: RenewalReport) => void,
  leaseMs: number,
  now: () => number,
): () => (report: RenewalReport) => void {
  let newest: RenewalReport | undefined;
  return () => {
    let first: number | undefined;
    let since = 0;
    return (report) => {
      if (first === undefined) {
        first = report.steadySince;
        const isJoined = newest !== undefined && now() - newest.sentAt < leaseMs;
        since = isJoined && newest !== undefined ? newest.steadySince : first;
      }
      const { steadySince } = report;
      newest = { ...report, steadySince: steadySince === first ? since : steadySince };
      onReport(newest);
    };
  };
}
