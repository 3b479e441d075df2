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
import { createBegins, type PreparedRuns } from './begins.js';
import { createAdopt, createBranch } from './branch.js';
import { createErasing } from './erase.js';
import { tracerOf, type RunsExtension, type RunsHost } from './extension.js';
import { createForks } from './forks.js';
import { createReruns } from './reruns.js';
import type { RunWorkflows } from './run-workflows.js';
import type { Runs } from './runs.js';
import { createStarts, type Starts, type StartsDeps } from './starts.js';
import { createStops } from './stops.js';
import { createSweepSession } from './sweep-session.js';
import { createFindUnseen } from './unseen-attempts.js';
import { createUploads } from './uploads.js';

export interface RunsDeps extends Pick<
  StartsDeps,
  'agents' | 'searchAttributes' | 'sealsFailures' | 'modelName' | 'sessionUrl'
> {
  store: Store;
  streamManager: Pick<StreamManager, 'read'> & Partial<Pick<StreamManager, 'inspect'>>;
  workflows: RunWorkflows;
  /** Absent if Temporal does not execute the runs. */
  temporal?: RunsHost['temporal'];
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
  const { workflows, agents, extensions = [], temporal } = deps;
  const { meter = NO_METER, logger } = deps;
  const { fleet } = workflows;
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

  const core = { ...deps, store: bare, deliveries, tracer, lostSignal, meter };
  const stops = createStops(core);
  const pauses = deps.store.pauses.of(fleet);
  const starts = createStarts({ ...core, ...stops, pauses });
  const { startRun, wake, startOf, idle } = starts;
  const admit = createAdmit(extensions, host);
  const store = admitBeforeBegin(bare, { ...starts, admit, logger });
  const uploads = createUploads({ ...core, admit });
  const parts = { ...core, ...stops, ...starts, store };
  const { requireAgent, ...begins } = createBegins({
    ...parts,
    sweepSession: (sessionId) => sweepSession(sessionId),
  });
  const branch = createBranch(store, uploads);
  const reruns = createReruns({ ...parts, ...begins, requireAgent });
  const erasing = createErasing(core);
  const { fork, continueCopy } = createForks({ ...parts, ...reruns, ...erasing, branch });
  const { submit, ...answers } = createAnswers({
    ...parts,
    host: 'api',
    wake: ({ runId }) => wake(runId),
  });
  const leases = store.leases?.of(workflows.namespace);
  const sweepSession = createSweepSession({
    ...{ ...parts, ...answers, continueCopy },
    findUnseen: leases && createFindUnseen({ ...core, leases }),
    startWithinMs: deps.startWithinMs ?? LIMITS.startWithinMs,
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
    startOf,
    idle,
    startRun,
    startNext,
    wake,
    endLost: stops.endLost,
    sweepSession,
    stop: (sessionId, { via, roles, actId, ...request }) => {
      const { by, reason } = request;
      const act = toAct('stop', { by, via, roles, actId }, { reason });
      return stops.stop(sessionId, { ...request, act });
    },
    temporal,
    forget: async (who) => {
      for (const { forget } of extensions) await forget?.(who, host);
    },
    deliveries,
    pauses: createAgentPauses({ pauses, store: bare, logger }),
  };
}
