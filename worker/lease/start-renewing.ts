import { url as debuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Leases, LeaseThread } from '../../stores/contract/leases.js';
import { monotonicMs } from './clock.js';
import { startPulse } from './pulse.js';
import { createRenewals, type RenewalReport } from './renewals.js';
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

/** A thread that ended is started again after this long. */
const AGAIN_MS = 1_000;

/**
 * Renews the lease in a thread of its own, or on this one if the store cannot be opened in another
 * thread, as the one in memory.
 */
export function startRenewing(options: RenewingOptions): { stop: () => void } {
  const { thread } = options.leases;
  return thread === undefined ? renewHere(options) : renewInThread(options, thread);
}

function renewHere(options: RenewingOptions): { stop: () => void } {
  const { times } = options;
  let ticks = 0;
  const renewals = createRenewals({
    ...options,
    now: monotonicMs,
    pulse: { ticks: () => ticks, unansweredMs: options.unansweredMs },
    onHung: () => undefined,
  });
  const turn = (): void => {
    ticks += 1;
    void renewals.turn();
  };
  const timer = setInterval(turn, times.renewMs);
  timer.unref();
  turn();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}

function renewInThread(options: RenewingOptions, opening: LeaseThread): { stop: () => void } {
  const { namespace, id, times, unansweredMs, logger, onReport } = options;
  const pulse = startPulse(unansweredMs);
  let isStopped = false;
  let hasRenewed = false;
  let thread: Worker | undefined;
  let here: { stop: () => void } | undefined;

  /** In some bundled programs the thread's file cannot be found: a busy main thread renews late. */
  function fallBack(): void {
    if (isStopped) return;
    logger.warn({}, 'the main thread renews the lease, since no other thread can');
    here ??= renewHere(options);
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
    stop: () => {
      isStopped = true;
      here?.stop();
      pulse.stop();
      thread?.postMessage('stop');
    },
  };
}

/** Node runs no TypeScript: sources that run as they are use the built files. */
function builtOf(module: string, of = module): string {
  if (!of.endsWith('.ts')) return module;
  return module.replace(/\/((?:stores|worker)\/[^?]*)\.[jt]s$/, '/dist/$1.js');
}
