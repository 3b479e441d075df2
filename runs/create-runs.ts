import { LIMITS } from '../protocol/limits.js';
import { NO_METER, type RunMeter } from '../protocol/telemetry.js';
import type { Times } from '../protocol/times.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import { toAct } from './record/acts.js';
import { createAnswers } from './record/answers.js';
import { listenToChanges, type AuditLogger } from './record/listeners.js';
import { createAgentPauses } from './agent-pauses.js';
import { admitBeforeBegin, createAdmit, listenersOf } from './before-begin.js';
import { createBegins } from './begins.js';
import { createAdopt, createBranch } from './branch.js';
import { createErasing } from './erase.js';
import { tracerOf, type RunsExtension, type RunsHost } from './extension.js';
import { createForks } from './forks.js';
import { unlisted } from './temporal-calls.js';
import { createReruns } from './reruns.js';
import type { RunList } from './run-list.js';
import { createRunStart, type PreparedRuns, type RunStartDeps } from './run-start.js';
import type { RunWorkflows } from './run-workflows.js';
import type { Runs } from './runs.js';
import { createStarts, type Starts } from './starts.js';
import { createStops } from './stops.js';
import { createSweepSession } from './sweep-session.js';
import { createFindUnseen } from './unseen-attempts.js';
import { createUploads } from './uploads.js';

export interface RunsDeps extends Omit<RunStartDeps, 'deliveries' | 'tracer'> {
  store: Store;
  streamManager: Pick<StreamManager, 'read'> & Partial<Pick<StreamManager, 'inspect'>>;
  workflows: RunWorkflows;
  /** Absent if Temporal does not execute the runs. */
  temporal?: RunsHost['temporal'];
  /** Absent if runs cannot be listed. */
  runList?: RunList;
  /** True if this process executes runs, so that it must know their agents. */
  carriesOut?: boolean;
  /** Runs that are not started within this time end as `engine_unavailable`, ms. Default 15 minutes. */
  startWithinMs?: number;
  /** Default: `TIMES`. */
  times?: Times | undefined;
  extensions?: readonly RunsExtension[] | undefined;
  /** Counts what happens to runs. Default: nothing. */
  meter?: RunMeter;
  logger: AuditLogger;
}

/** Composes the operations on runs. They write Redis first, so a lost signal loses nothing. */
export function createRuns(deps: RunsDeps): Runs & PreparedRuns {
  const { streamManager, workflows, agents, extensions = [], temporal } = deps;
  const { meter = NO_METER, logger } = deps;
  const { fleet, namespace } = workflows;
  const tracer = tracerOf(extensions);
  const ofFleet = { ...deps.store, due: deps.store.due.of(fleet) };
  const notifier = extensions.find((each) => each.deliveries !== undefined);
  const deliveries = notifier?.deliveries?.(temporal);
  const notify = deliveries?.announce;
  const host: RunsHost = { store: ofFleet, agents, fleet, meter, logger, notify, temporal };
  const listeners = listenersOf(extensions, host);
  const startNext: Starts['startNext'] = (sessionId) => starts.startNext(sessionId);
  const bare = listenToChanges(ofFleet, { meter, startNext, others: listeners, logger });
  for (const { start } of extensions) start?.(host);

  /** Logs a lost signal; the sweeper or the search for outliving workflows repeats it. */
  function lostSignal(runId: string) {
    return (error: unknown): void => {
      logger.warn({ err: error, runId }, 'the run could not be signalled');
    };
  }

  /** @throws HelixError `unavailable` where runs have no search attributes */
  function listed(): RunList {
    if (deps.runList === undefined || !deps.searchAttributes) throw unlisted();
    return deps.runList;
  }

  const signals = { workflows, lostSignal, logger };
  const stops = createStops({ store: bare, streamManager, deliveries, ...signals });
  const { stop, carryOut: carryOutStop, ...ends } = stops;
  const pauses = deps.store.pauses.of(fleet);
  const toStart = createRunStart({ ...deps, deliveries, tracer });
  const starts = createStarts({ store: bare, pauses, toStart, ...ends, ...signals });
  const { launch, restart: startRun, wake, isHeld, inBackground } = starts;
  const admit = createAdmit(extensions, host);
  const store = admitBeforeBegin(bare, { admit, inBackground, logger });
  const uploads = createUploads({ store: bare, admit, logger });
  const { requireAgent, ...begins } = createBegins({
    store,
    streamManager,
    starts,
    carryOutStop,
    sweepSession: (sessionId) => sweepSession(sessionId),
    lostSignal,
    agents,
    carriesOut: deps.carriesOut,
  });
  const branch = createBranch(store, uploads);
  const reruns = createReruns({ store, ...begins, stop, requireAgent, launch, wake, lostSignal });
  const erasing = createErasing({ store: bare, workflows, lostSignal, logger });
  const { fork, continueCopy } = createForks({ store, branch, ...reruns, ...erasing, logger });
  const { submit, ...answers } = createAnswers({
    ...{ store, agents, logger },
    host: 'api',
    wake: ({ runId }) => wake(runId),
  });
  const leases = store.leases?.of(namespace);
  const sweepSession = createSweepSession({
    store,
    workflows,
    findUnseen: leases && createFindUnseen({ leases, workflows, meter, logger }),
    startRun,
    ...ends,
    startNext,
    continueCopy,
    expireCalls: answers.expireCalls,
    isHeld,
    startWithinMs: deps.startWithinMs ?? LIMITS.startWithinMs,
    times: deps.times,
    meter,
    logger,
  });

  return {
    ...begins,
    ...answers,
    submitToolResult: async (answer, options) => (await submit(answer, options)).result,
    ...reruns,
    ...erasing,
    branch,
    adopt: createAdopt(store),
    fork,
    uploads,
    listeners,
    startOf: starts.startOf,
    idle: starts.idle,
    startRun,
    startNext,
    wake,
    endLost: ends.endLost,
    sweepSession,
    stop: (sessionId, { via, roles, actId, ...request }) => {
      const { by, reason } = request;
      const act = toAct('stop', { by, via, roles, actId }, { reason });
      return stop(sessionId, { ...request, act });
    },
    temporal,
    forget: async (who) => {
      for (const { forget } of extensions) await forget?.(who, host);
    },
    deliveries,
    pauses: createAgentPauses({ pauses, store: bare, logger }),
    list: (...wanted) => listed().list(...wanted),
    count: (filter) => listed().count(filter),
  };
}
