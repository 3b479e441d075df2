import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Leases, LeaseThread } from '../../store/contract/leases.js';
import {
  createRenewals,
  monotonicMs,
  startPulse,
  type LeaseTimes,
  type RenewalReport,
  type Suspect,
} from './renewals.js';
import type { ThreadInput } from './thread.js';

export interface RenewingOptions {
  /** Leases of the worker's namespace. */
  leases: Leases;
  namespace: string;
  id: string;
  times: LeaseTimes;
  unansweredMs: () => number;
  logger: { warn: (fields: object, message: string) => void };
  onReport: (report: RenewalReport) => void;
}

export interface Renewing {
  /** Resolves once the attempt to list the lease has succeeded or failed. */
  begun: Promise<void>;
  /** Renews for as long as the process lives, also while packages load. */
  load: () => void;
  /** Called when the worker runs: from now on a blocked main thread ends the process. */
  run: () => void;
  /** Notes a call in execution until the returned function is called. */
  executing: (call: Suspect) => () => void;
  stop: () => void;
}

/** Renewals without a time limit. */
type Lasting = Pick<Renewing, 'run' | 'executing' | 'stop'>;

/** The first renewals last this long, because a starting process is busy. */
const STARTING_MS = 5_000;
/** Renewals stop if neither `load` nor `run` is called by then: the worker may never run. */
const NEVER_RUN_MS = 30_000;
/** Pause before a renewing thread that ended is started again. */
const AGAIN_MS = 1_000;

/**
 * Renews a lease: first on this thread, and from `load` or `run` on in a thread of its own. A store that
 * cannot be opened in another thread, such as the one in memory, keeps renewals on this one.
 */
export function startRenewing(options: RenewingOptions): Renewing {
  const { leases, times } = options;
  const next = inSequence(options.onReport, times.leaseMs, monotonicMs);
  const first = renewHere({ ...options, onReport: next() }, STARTING_MS);
  const unused = setTimeout(first.stop, NEVER_RUN_MS).unref();
  let lasting: Lasting | undefined;

  function load(): Lasting {
    clearTimeout(unused);
    // Renewals here go on until the other thread has started.
    const source = (): ((report: RenewalReport) => void) => {
      const onReport = next();
      return (report) => {
        first.stop();
        onReport(report);
      };
    };
    lasting ??=
      leases.thread === undefined
        ? renewHere({ ...options, onReport: source() })
        : renewInThread(options, leases.thread, source);
    return lasting;
  }

  return {
    begun: first.begun,
    load,
    run: () => load().run(),
    executing: (call) => lasting?.executing(call) ?? (() => undefined),
    stop: () => {
      clearTimeout(unused);
      first.stop();
      lasting?.stop();
    },
  };
}

/** Nothing watches a main thread that renews the lease itself. */
function renewHere(options: RenewingOptions, forMs?: number): Lasting & { begun: Promise<void> } {
  const { times, unansweredMs } = options;
  let ticks = 0;
  const renewals = createRenewals({
    ...options,
    forMs,
    now: monotonicMs,
    pulse: { ticks: () => ticks, unansweredMs, isRunning: () => false, suspect: () => undefined },
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
    run: () => undefined,
    executing: () => () => undefined,
    stop: () => clearInterval(timer),
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

  /** Renews on the main thread if the thread's file cannot be loaded, as in some bundled programs. */
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
    thread.on('error', (error) =>
      logger.warn({ err: error }, 'the thread that renews the lease has failed'),
    );
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
 * Joins the reports of sources that follow each other. Without a gap between two sources, the gapless
 * renewals count from the first one.
 *
 * @param now clock that all sources share, ms
 * @returns a function that begins another source
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
        since = newest && now() - newest.sentAt < leaseMs ? newest.steadySince : first;
      }
      const { steadySince } = report;
      newest = { ...report, steadySince: steadySince === first ? since : steadySince };
      onReport(newest);
    };
  };
}
