import { resolveMaxSteps } from '../agents/define-agent.js';
import type { AgentRegistry } from '../agents/registry.js';
import { rootOf, toShownSessionId } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal, type Resumption, type RunError, type RunInput } from '../protocol/run.js';
import { beginNextAfterEnds, type StartNext } from '../stores/record/begin-next.js';
import type { BeginResult, RunRecord } from '../stores/contract/runs.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { endSilent } from '../stores/record/end-silent.js';
import { foldAfterChanges } from '../stores/record/fold-after-changes.js';
import type { StreamManager } from '../stores/log/stream-manager.js';
import type { AgentExecutor, ExecuteInput } from './agent-executor.js';
import { createAnswers } from './answers.js';
import { createAttend, type Attended, type SweepBudget } from './attend.js';
import { createBranch } from './branch.js';
import { createLaunches } from './launches.js';
import { createQuotasOf, type Quotas } from './quotas.js';
import { createReruns, FIRST_SWEEP_MS, newNonce } from './reruns.js';
import { reserveBeforeBegin } from './reserve-before-begin.js';
import type { RunWorkflows } from './run-workflows.js';
import { isRefusedForGood } from './temporal-calls.js';

/** A stop that no writer has confirmed after this long is carried out without it. */
const STOP_CONFIRM_MS = 2_000;

/** Replies to messages that a run at work, or one that should be, stands in the way of. */
const MAY_HOLD_UP: ReadonlySet<BeginResult['kind']> = new Set(['busy', 'queued', 'steered']);

export interface ExecutorDeps {
  store: Store;
  streamManager: Pick<StreamManager, 'read'>;
  workflows: RunWorkflows;
  agents: AgentRegistry;
  /** False when the server has no search attributes for runs. */
  searchAttributes: boolean;
  /** For operators: what the runs' model is called, and where a conversation can be seen. */
  modelName?: string;
  sessionUrl?: (sessionId: string) => string;
  /** Runs that are not started within this time end as `engine_unavailable`, ms. Default 15 minutes. */
  startWithinMs?: number;
  /** What users and tenants may have. Default: see `toQuotas`. */
  quotas?: Quotas | 'unlimited';
  logger: { warn: (fields: object, message: string) => void };
}

/** Adds what keeps runs going to what the HTTP side uses. */
export interface RunExecutor extends AgentExecutor {
  /** Resolves when no start is under way that a message of this process began; before it ends. */
  idle: () => Promise<void>;
  /** Starts the workflow of the session's newest run; harmless when it was started before. */
  startRun: (record: SessionRecord) => Promise<void>;
  /** Wakes a run whose answers are complete and not yet taken. */
  wake: (record: SessionRecord, resume: Resumption) => Promise<void>;
  /** Ends a run whose workflow is gone; what it had said is kept. */
  endLost: (record: SessionRecord) => Promise<void>;
  /** Begins what waits for its turn, unless a run is at work. */
  startNext: StartNext;
  /** Looks after a session: whatever should be at work in it is put to work. */
  attend: (sessionId: string, budget?: SweepBudget) => Promise<Attended>;
}

/** Starts, signals and stops runs. Redis is written first, so a lost signal loses nothing. */
export function createTemporalExecutor(deps: ExecutorDeps): RunExecutor {
  const { streamManager, workflows, agents, logger } = deps;
  const bare = { ...deps.store, due: deps.store.due.of(workflows.fleet) };
  const folding = foldAfterChanges(bare, logger);
  const store = reserveBeforeBegin(beginNextAfterEnds(folding, { startNext, logger }), {
    quotasOf: createQuotasOf(deps.quotas),
    logger,
  });
  const launches = createLaunches(logger);

  /** A wake-up or a stop that does not arrive is given again by the sweeper. */
  function lostSignal(runId: string) {
    return (error: unknown): void => {
      logger.warn({ err: error, runId }, 'the run could not be signalled');
    };
  }

  async function startRun(
    run: Pick<RunRecord, 'sessionId' | 'runId' | 'agent' | 'turn' | 'from'>,
    tenant?: string,
  ): Promise<void> {
    const { sessionId, runId, agent, turn, from } = run;
    const owner = agents.isMade(agent) ? (await store.sessions.read(sessionId))?.owner : undefined;
    const scope = { sessionId, runId, ...(owner !== undefined && { userId: owner }) };
    const definition = agents.resolve(agent, scope);
    const maxSteps = Math.min(resolveMaxSteps(definition), Number.MAX_SAFE_INTEGER);
    const sessionUrl = deps.sessionUrl?.(toShownSessionId(sessionId));
    const input: RunInput = {
      sessionId,
      runId,
      agent,
      turn,
      maxSteps,
      searchAttributes: deps.searchAttributes,
      ...(definition.outputSchema !== undefined && { hasOutput: true }),
      ...(deps.modelName !== undefined && { model: deps.modelName }),
      ...(sessionUrl !== undefined && { sessionUrl }),
      ...(from !== undefined && { from }),
    };
    const details = [`Session \`${sessionId}\``, `Run \`${runId}\``];
    if (sessionUrl !== undefined) details.push(`[Conversation](${sessionUrl})`);
    try {
      await workflows.start(input, {
        details: details.join('\n\n'),
        ...(tenant !== undefined && { tenant }),
      });
    } catch (error) {
      if (!isRefusedForGood(error)) throw error;
      logger.warn({ err: error, runId }, 'Temporal refuses the run');
      const record = await store.sessions.read(sessionId);
      if (record?.runId === runId && record.status === 'starting') await endUnstarted(record);
    }
  }

  /** A run whose workflow was never started, or is not known any more. */
  function restart(record: SessionRecord): Promise<void> {
    return startRun({ ...record, ...fromOf(record) }, record.tenant);
  }

  async function wake(record: SessionRecord, resume: Resumption): Promise<void> {
    await workflows.answer(record.runId, { toolCallId: '', by: 'sweeper', resume });
  }

  /** No writer confirmed: it is fenced off, and what it had said is committed in its place. */
  async function enforceStop(sessionId: string, runId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || isTerminal(record.status)) return;
    const status = record.stop?.mode === 'abort' ? 'aborted' : 'interrupted';
    await endSilent({ store, streamManager }, record, { status, now: Date.now() });
  }

  const endFailed =
    (error: RunError) =>
    (record: SessionRecord): Promise<void> =>
      endSilent({ store, streamManager }, record, { status: 'failed', error, now: Date.now() });
  const endLost = endFailed(RUN_LOST);
  const endUnstarted = endFailed(ENGINE_UNAVAILABLE);

  /** What ends a run goes on with what waits; so does whoever finds it waiting. */
  async function startNext(sessionId: string): Promise<void> {
    await bare.due.note(sessionId, FIRST_SWEEP_MS);
    const result = await folding.queue.begin({ sessionId, nonce: newNonce(), now: Date.now() });
    if (result.kind === 'begun') launch(result.run, result.tenant);
  }

  /** The message is stored: nobody waits for the engine, which may be slow or away. */
  function launch(run: RunRecord, tenant: string | undefined): void {
    const old = run.supersededRunId;
    if (old !== undefined) void workflows.stop(old, { recorded: true }).catch(lostSignal(old));
    launches.launch(run.runId, () => startRun(run, tenant));
  }

  const answers = createAnswers({ store, agents, workflows, logger });
  const { expireCalls } = answers;
  const ends = { endLost, endUnstarted, enforceStop };
  const upkeep = { startRun: restart, wake, ...ends, startNext, expireCalls };
  const { startWithinMs = LIMITS.startWithinMs } = deps;
  const attend = createAttend({ store, workflows, ...upkeep, startWithinMs, logger });

  async function accept(input: ExecuteInput): Promise<BeginResult> {
    // The index may live on another node than the session: it is written before the run exists.
    await store.due.note(input.sessionId, FIRST_SWEEP_MS);
    const result = await store.runs.begin({ ...input, nonce: newNonce(), now: Date.now() });
    if (result.kind === 'begun') launch(result.run, input.tenant);
    else if (result.kind === 'queued' && result.begun) launch(result.begun, input.tenant);
    else if (result.kind === 'interrupting') carryOutStop(input.sessionId, result.runId);
    return result;
  }

  /** A run that holds up messages and says nothing may be lost; true if somebody saw to it. */
  async function attendSilent(sessionId: string): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined) return false;
    const isSilent = Date.now() - record.updatedAt > LIMITS.silentMs;
    if (!isSilent && !isTerminal(record.status)) return false;
    await attend(sessionId);
    return true;
  }

  /** The model was told to stop; if it does not confirm, the run is ended without it. */
  function carryOutStop(sessionId: string, runId: string): void {
    void workflows.stop(runId, { recorded: true }).catch(lostSignal(runId));
    setTimeout(() => {
      enforceStop(sessionId, runId).catch(lostSignal(runId));
    }, STOP_CONFIRM_MS).unref();
  }

  async function execute(input: ExecuteInput): Promise<BeginResult> {
    const result = await accept(input);
    if (!MAY_HOLD_UP.has(result.kind)) return result;
    const { sessionId } = input;
    const seenTo = await attendSilent(sessionId).catch(lostSignal(sessionId));
    return seenTo === true && result.kind === 'busy' ? accept(input) : result;
  }

  const stop: AgentExecutor['stop'] = async (sessionId, request) => {
    // The signal may be lost, and sessions that wait are looked at rarely.
    await store.due.note(rootOf(sessionId), FIRST_SWEEP_MS);
    const result = await store.runs.stop(sessionId, request);
    if (result.kind === 'stopping') carryOutStop(sessionId, result.runId);
    else if (result.kind === 'ended') {
      const { runId, waited = false } = result;
      const signal = { recorded: true, ...(waited && { ended: true }) };
      void workflows.stop(runId, signal).catch(lostSignal(runId));
    }
    return result;
  };

  return {
    execute,
    ...answers,
    branch: createBranch(store),
    ...createReruns({ store, execute, stop, launch, wake, lostSignal }),
    stop,
    deleteSession: async (sessionId, by) => {
      const record = await store.sessions.read(sessionId);
      if (record !== undefined && !isTerminal(record.status)) {
        const told = workflows.stop(record.runId, { recorded: true });
        // Told before anything else: without the record nobody knows any more whom to tell. A run
        // that is starting asks for its record first, finds none and ends.
        if (record.status !== 'starting') await told;
        else void told.catch(lostSignal(record.runId));
        const who = by === undefined ? {} : { by };
        // On the bare store: what waits for its turn is erased, not begun.
        await bare.runs.stop(sessionId, { mode: 'abort', reason: 'deleted', ...who });
      }
      await store.sessions.erase(sessionId);
    },
    idle: launches.idle,
    startRun: restart,
    wake,
    endLost,
    startNext,
    attend,
  };
}

const RUN_LOST: RunError = {
  code: 'framework_run_lost',
  message: 'The run was ended from outside. Send a message to go on.',
  retryable: true,
};
const ENGINE_UNAVAILABLE: RunError = {
  code: 'engine_unavailable',
  message: 'The agents could not be reached in time. Send a message to try again.',
  retryable: true,
};

/** Where a run goes on that did not begin its turn. */
function fromOf({ runFromStep, runStartSequence }: SessionRecord): Pick<RunRecord, 'from'> {
  return runFromStep === 0 ? {} : { from: { step: runFromStep, known: runStartSequence } };
}
