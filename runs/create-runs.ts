import { NO_METER } from '../protocol/telemetry.js';
import { toAct } from './record/acts.js';
import { createAnswers } from './record/answers.js';
import { listenToChanges } from './record/listeners.js';
import { createAgentPauses } from './agent-pauses.js';
import { admitBeforeBegin, createAdmit, listenersOf } from './before-begin.js';
import { createBegins, type PreparedRuns } from './begins.js';
import { createAdopt, createBranch, createForks } from './branch.js';
import type { RunsCore, RunsDeps } from './deps.js';
import { createErasing } from './erase.js';
import { tracerOf, type RunsHost } from './extension.js';
import { createReruns } from './reruns.js';
import type { Runs } from './runs.js';
import { createStarts, type Starts } from './starts.js';
import { createStops } from './stops.js';
import { createSweepSession } from './sweep-session.js';
import { createFindUnseen } from './unseen-attempts.js';
import { createUploads } from './uploads.js';

/** Composes the operations on runs. They write Redis first, so a lost signal loses nothing. */
export function createRuns(deps: RunsDeps): Runs & PreparedRuns {
  const { workflows, agents, extensions = [], temporal, meter = NO_METER, logger } = deps;
  const { fleet } = workflows;
  const ofFleet = { ...deps.store, due: deps.store.due.of(fleet) };
  const notifier = extensions.find((each) => each.deliveries !== undefined);
  const deliveries = notifier?.deliveries?.(temporal);
  const notify = deliveries?.announce;
  const host: RunsHost = { store: ofFleet, agents, fleet, meter, logger, notify, temporal };
  const listeners = listenersOf(extensions, host);
  const startNext: Starts['startNext'] = (sessionId) => starts.startNext(sessionId);
  const bare = listenToChanges(ofFleet, { meter, startNext, others: listeners, logger });
  for (const { start } of extensions) start?.(host);

  const core: RunsCore = {
    ...deps,
    store: bare,
    pauses: deps.store.pauses.of(fleet),
    deliveries,
    tracer: tracerOf(extensions),
    meter,
    lostSignal: (runId) => (error) => {
      logger.warn({ err: error, runId }, 'the run could not be signalled');
    },
  };
  const stops = createStops(core);
  const starts = createStarts({ ...core, ...stops });
  const admit = createAdmit(extensions, host);
  const uploads = createUploads({ ...core, admit });
  const store = admitBeforeBegin(bare, admit, { ...starts, logger });
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
    wake: ({ runId, at }) => starts.wake(runId, at),
  });
  const leases = store.leases?.of(workflows.namespace);
  const sweepSession = createSweepSession({
    ...parts,
    ...answers,
    continueCopy,
    findUnseen: leases && createFindUnseen({ ...core, leases }),
  });

  return {
    ...starts,
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
    endLost: stops.endLost,
    sweepSession,
    stop: (sessionId, { mode, by, reason, runId, ...actor }) => {
      const act = toAct('stop', { by, ...actor }, { reason });
      return stops.stop(sessionId, { mode, by, reason, runId, act });
    },
    temporal,
    forget: async (who) => {
      for (const { forget } of extensions) await forget?.(who, host);
    },
    deliveries,
    pauses: createAgentPauses(core),
  };
}
