import type { AgentRegistry } from '../agents/registry.js';
import { ConfigurationError, HelixError } from '../protocol/errors.js';
import { NO_METER, type RunMeter } from '../protocol/run-meter.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal, type StopRequest } from '../protocol/run.js';
import { noteBeside } from '../stores/contract/due.js';
import type { Act } from '../stores/contract/audit.js';
import type { BeginResult, RunRecord, StopResult } from '../stores/contract/runs.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Listener } from '../store/change.js';
import type { Store } from '../stores/contract/store.js';
import type { StreamManager } from '../stores/log/stream-manager.js';
import { toAct } from '../stores/record/acts.js';
import { listenToChanges, type AuditLogger } from '../stores/record/listeners.js';
import { forceEnd } from '../stores/record/force-end.js';
import { createLegTraces } from '../stores/record/leg-traces.js';
import { createAdopt } from './adopt.js';
import { createAgentPauses, toHeld } from './agent-pauses.js';
import { createAnswerApi } from './answers.js';
import { admitBeforeBegin, createAdmit } from './before-begin.js';
import { beginNoted, type SweepAfterBegin } from './begin-noted.js';
import { createBranch } from './branch.js';
import { createEndLost } from './end-lost.js';
import { createErasing } from './erase.js';
import { tracerOf, type RunsExtension, type RunsHost } from './extension.js';
import { createForks } from './forks.js';
import { createLaunches } from './launches.js';
import { createReruns, FIRST_SWEEP_MS, newNonce } from './reruns.js';
import { isRefusedForGood } from './grpc-status.js';
import type { RunList } from './run-list.js';
import { createRunStart, toStartable, type PreparedRuns } from './run-start.js';
import type { RunStart, StartableRun } from './run-start.js';
import type { RunWorkflows } from './run-workflows.js';
import { unlisted } from './unlisted.js';
import type { ExecuteInput, Runs } from './runs.js';
import { createSweepSession } from './sweep-session.js';
import { createUploads } from './uploads.js';
import { createFindUnseen } from './unseen-attempts.js';

/** A stop that no writer has confirmed after this long is carried out without it. */
const STOP_CONFIRM_MS = 2_000;

/** Results that mean another run is, or should be, active. */
const MAY_HOLD_UP: ReadonlySet<BeginResult['kind']> = new Set(['busy', 'queued', 'steered']);

export interface RunsDeps {
  store: Store;
  streamManager: Pick<StreamManager, 'read'> & Partial<Pick<StreamManager, 'inspect'>>;
  workflows: RunWorkflows;
  /** Absent where no Temporal carries the runs out. */
  temporal?: RunsHost['temporal'];
  /** Absent: runs cannot be listed. */
  runList?: RunList;
  agents: AgentRegistry;
  /** True where this process carries runs out: of an agent that it does not know none would ever start. */
  carriesOut?: boolean;
  /** False when the server has no search attributes for runs. */
  searchAttributes: boolean;
  /** True with a payload codec: texts of failures are encrypted as well. */
  sealsFailures?: boolean;
  /** For operators: the name of the runs' model, and the page that shows a conversation. */
  modelName?: string;
  sessionUrl?: (sessionId: string, runId: string) => string;
  /** Runs that are not started within this time end as `engine_unavailable`, ms. Default 15 minutes. */
  startWithinMs?: number;
  extensions?: readonly RunsExtension[] | undefined;
  /** Counts what happens to runs. Default: nothing. */
  meter?: RunMeter;
  logger: AuditLogger;
}

/** How a run begins, and what is done with it. */
interface HowToBegin extends SweepAfterBegin {
  begun: (run: RunRecord, of: Pick<ExecuteInput, 'tenant' | 'startAt'>) => void;
}

/** A caller's workflow starts the run's own as its child within this time, else the sweeper does. */
const CALLER_STARTS_MS = 15_000;

/** Starts, signals and stops runs. Redis is written first, so a lost signal loses nothing. */
export function createRuns(deps: RunsDeps): Runs & PreparedRuns {
  const { streamManager, workflows, agents, meter = NO_METER, logger } = deps;
  const { extensions = [], temporal } = deps;
  const tracer = tracerOf(extensions);
  const traces = tracer && createLegTraces(deps.store, tracer);
  const ofFleet = { ...deps.store, due: deps.store.due.of(workflows.fleet) };
  const deliveries = extensions
    .find((each) => each.deliveries !== undefined)
    ?.deliveries?.(temporal);
  const { fleet } = workflows;
  const host: RunsHost = {
    store: ofFleet,
    agents,
    fleet,
    meter,
    logger,
    notify: deliveries?.announce,
    temporal,
  };
  const others = extensions.flatMap(({ listener }): Listener[] =>
    listener === undefined
      ? []
      : [
          (sessionId, events) => {
            listener(sessionId, events, host);
          },
        ],
  );
  const bare = listenToChanges(ofFleet, { meter, traces, startNext, others, logger });
  for (const { start } of extensions) start?.(host);
  const launches = createLaunches(logger);
  const admit = createAdmit(extensions, host);
  const store = admitBeforeBegin(bare, {
    admit,
    inBackground: launches.inBackground,
    logger,
  });
  const uploads = createUploads({ store: bare, admit, logger });
  const pauses = deps.store.pauses.of(workflows.fleet);
  const toStart = createRunStart({ ...deps, deliveries, tracer });

  /** The sweeper, or the search for workflows that outlive their run, sends the signal again. */
  function lostSignal(runId: string) {
    return (error: unknown): void => {
      logger.warn({ err: error, runId }, 'the run could not be signalled');
    };
  }

  async function startRun(run: StartableRun, tenant?: string): Promise<void> {
    const { sessionId, runId } = run;
    const { input, labels } = await toStart(run, tenant);
    try {
      await workflows.start(input, labels);
    } catch (error) {
      if (!isRefusedForGood(error)) throw error;
      logger.warn({ err: error, runId }, 'Temporal refuses the run');
      const record = await store.sessions.read(sessionId);
      if (record?.runId === runId && record.status === 'starting') await endUnstarted(record);
    }
  }

  /** For a run whose workflow was never started, or is no longer known to Temporal. */
  function restart(record: SessionRecord): Promise<void> {
    return startRun(toStartable(record), record.tenant);
  }

  /** The hint saves the run a look at its record, where that can be read. */
  async function wake(runId: string): Promise<void> {
    const run = { sessionId: sessionOfRun(runId), runId };
    const at = await store.runs.next(run, { lists: true }).catch(() => undefined);
    await workflows.wake(runId, { at });
  }

  /** No writer confirmed the stop: it is fenced off, and its partial reply is committed in its place. */
  async function enforceStop(sessionId: string, runId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || isTerminal(record.status)) return;
    const status = record.stop?.mode === 'abort' ? 'aborted' : 'interrupted';
    await forceEnd({ store, streamManager }, record, { status, now: Date.now() });
  }

  const { endLost, endUnstarted } = createEndLost({
    stores: { store, streamManager },
    deliveries,
    logger,
  });

  /** Called after each end of a run, and by the sweeper for a queue that is left. */
  function startNext(sessionId: string): Promise<void> {
    const begun = beginNext(sessionId);
    launches.inBackground(begun.catch(() => undefined));
    return begun;
  }

  async function beginNext(sessionId: string): Promise<void> {
    await bare.due.note(sessionId, FIRST_SWEEP_MS);
    const result = await bare.queue.begin({ sessionId, nonce: newNonce(), now: Date.now() });
    if (result.kind === 'begun') launch(result.run, result.tenant);
  }

  /** True for a run whose agent is paused, or was until a moment ago. */
  async function isHeld(record: SessionRecord): Promise<boolean> {
    const held = toHeld(record);
    return (await pauses.hold(held)) || pauses.isHeld(held);
  }

  function wakeSuperseded({ supersededRunId: old }: RunRecord): void {
    if (old !== undefined) void workflows.wake(old).catch(lostSignal(old));
  }

  /** The message is stored: no request waits for Temporal, which may be slow or away. */
  function launch(run: RunRecord, tenant: string | undefined, startAt?: number): void {
    wakeSuperseded(run);
    launches.launch(run.runId, async () => {
      if (!(await pauses.hold({ ...run, tenant }))) await startRun({ ...run, startAt }, tenant);
    });
  }

  const branch = createBranch(store, uploads);
  const reruns = createReruns({ store, execute, stop, requireAgent, launch, wake, lostSignal });
  const erasing = createErasing({ store: bare, workflows, lostSignal, logger });
  const { fork, continueCopy } = createForks({ store, branch, ...reruns, ...erasing, logger });
  const answers = createAnswerApi({ store, agents, wakeRun: wake, logger });
  const { expireCalls } = answers;
  const ends = { endLost, endUnstarted, enforceStop };
  const upkeep = { startRun: restart, ...ends, startNext, continueCopy, expireCalls };
  const { startWithinMs = LIMITS.startWithinMs } = deps;
  const leases = store.leases?.of(workflows.namespace);
  const findUnseen = leases && createFindUnseen({ leases, workflows, meter, logger });
  const sweepSession = createSweepSession({
    ...{ store, workflows, ...upkeep, startWithinMs, findUnseen, isHeld },
    ...{ meter, logger },
  });

  function requireAgent(agent: string): void {
    if (deps.carriesOut !== true || agents.has(agent)) return;
    throw new HelixError('agent_not_found', 'There is no agent of that name.');
  }

  let isShown = streamManager.inspect === undefined;

  /** Asked once, with the first run: two servers cannot be told apart by their addresses. */
  async function requireStream(sessionId: string): Promise<void> {
    if (isShown) return;
    // A store that is away does not refuse what it has taken: the next run shows it.
    const shown = await streamManager.inspect?.(sessionId).catch(() => null);
    isShown = shown !== undefined && shown !== null;
    if (shown !== undefined || (await store.sessions.read(sessionId)) === undefined) return;
    const text =
      'The stream manager does not have what the store has: they work on different data.';
    throw new ConfigurationError(text);
  }

  async function accept(input: ExecuteInput, how: HowToBegin): Promise<BeginResult> {
    requireAgent(input.agent);
    const result = await beginNoted(store, { ...input, nonce: newNonce(), now: Date.now() }, how);
    if (result.kind === 'begun') {
      await requireStream(input.sessionId);
      how.begun(result.run, input);
    } else if (result.kind === 'queued' && result.begun) launch(result.begun, input.tenant);
    else if (result.kind === 'interrupting') carryOutStop(input.sessionId, result.runId);
    return result;
  }

  /** A silent run that holds up messages may be lost; true if it was swept. */
  async function sweepSilent(sessionId: string, { mayWait = false }: HowToBegin): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    // One that waits for people is silent for weeks, and so often is it tried.
    if (record === undefined || (mayWait && record.stream === 'paused')) return false;
    const isSilent = Date.now() - record.updatedAt > LIMITS.silentMs;
    if (!isSilent && !isTerminal(record.status)) return false;
    await sweepSession(sessionId);
    return true;
  }

  /** The step that streams ends the run; one whose writer does not confirm that is ended without it. */
  function carryOutStop(sessionId: string, runId: string): void {
    const mailbox = store.leases?.of(workflows.namespace);
    void mailbox?.noteStop({ sessionId, runId }).catch(lostSignal(runId));
    setTimeout(() => {
      enforceStop(sessionId, runId).catch(lostSignal(runId));
    }, STOP_CONFIRM_MS).unref();
  }

  async function executeBy(how: HowToBegin, input: ExecuteInput): Promise<BeginResult> {
    const result = await accept(input, how);
    if (!MAY_HOLD_UP.has(result.kind)) return result;
    const { sessionId } = input;
    const swept = await sweepSilent(sessionId, how).catch(lostSignal(sessionId));
    return swept === true && result.kind === 'busy' ? accept(input, how) : result;
  }

  function execute(input: ExecuteInput): Promise<BeginResult> {
    const begun: HowToBegin['begun'] = (run, { tenant, startAt }) => {
      launch(run, tenant, startAt);
    };
    return executeBy({ begun, sweepInMs: FIRST_SWEEP_MS }, input);
  }

  async function startOf(sessionId: string, runId: string): Promise<RunStart | undefined> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || record.status !== 'starting') return undefined;
    if (await isHeld(record)) return undefined;
    return toStart(toStartable(record), record.tenant);
  }

  async function stop(
    sessionId: string,
    request: StopRequest & { runId?: string; act?: Act },
  ): Promise<StopResult> {
    // The signal may be lost, and the sweeper looks at waiting sessions rarely.
    const noted = noteBeside(store.due, rootOf(sessionId), FIRST_SWEEP_MS);
    const result = await store.runs.stop(sessionId, request, noted);
    if (result.kind === 'stopping') carryOutStop(sessionId, result.runId);
    else if (result.kind === 'ended') {
      const { runId, waited: ended } = result;
      void workflows.wake(runId, { ended }).catch(lostSignal(runId));
    }
    return result;
  }

  /** @throws HelixError `unavailable` where runs have no search attributes */
  function listed(): RunList {
    if (deps.runList === undefined || !deps.searchAttributes) throw unlisted();
    return deps.runList;
  }

  return {
    execute,
    prepare: (input) =>
      executeBy({ begun: wakeSuperseded, sweepInMs: CALLER_STARTS_MS, mayWait: true }, input),
    startOf,
    ...answers,
    ...{ branch, adopt: createAdopt(store) },
    fork,
    uploads,
    listeners: others,
    ...reruns,
    stop: (sessionId, { via, roles, actId, ...request }) => {
      const { by, reason } = request;
      const act = toAct('stop', { by, via, roles, actId }, { reason });
      return stop(sessionId, { ...request, act });
    },
    ...erasing,
    idle: launches.idle,
    startRun: restart,
    wake,
    endLost,
    startNext,
    sweepSession,
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
