import { resolveMaxSteps } from '../agents/define-agent.js';
import { sessionOfRun, toShownSessionId } from '../protocol/ids.js';
import type { At, RunInput } from '../protocol/run.js';
import { legSpan } from '../protocol/telemetry.js';
import type { HeldRun } from '../store/contract/pauses.js';
import type { RunRecord } from '../store/contract/runs.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { StartNext } from './record/listeners.js';
import { startTimeOf } from './record/newest-run.js';
import { toHeld } from './agent-pauses.js';
import { FIRST_SWEEP_MS, newNonce, type RunsCore } from './deps.js';
import { hasCodec } from './extension.js';
import type { RunLabels } from './search-attributes.js';
import type { Stops } from './stops.js';
import { isRefusedForGood } from './temporal-calls.js';

interface RunStart {
  input: RunInput;
  labels: RunLabels;
}

interface StartableRun extends Pick<RunRecord, 'sessionId' | 'runId' | 'agent' | 'turn' | 'from'> {
  startAt?: number;
}

/** Starts workflows in the background, so that no request waits for Temporal. */
export interface Starts {
  /** Starts a run; the sweeper, which has it noted as due, repeats a failed start. */
  launch: (run: RunRecord, tenant: string | undefined, startAt?: number) => void;
  /**
   * Starts the workflow of the session's newest run, which never started or Temporal no longer
   * knows; harmless if it does.
   */
  startRun: (record: SessionRecord) => Promise<void>;
  /** Begins the next queued message, after each end of a run or by the sweeper. */
  startNext: StartNext;
  /** Tells the run that this one replaces, which may be held, that it has ended. */
  wakeSuperseded: (run: RunRecord, of: Pick<HeldRun, 'tenant'>) => void;
  /** Lets a run continue. @param at state of its record, if known */
  wake: (runId: string, at?: At) => Promise<void>;
  /** True for a run whose agent is paused, or was until just now. */
  isHeld: (record: SessionRecord) => Promise<boolean>;
  /** Returns the workflow's arguments; undefined once the run has begun, and while it may not. */
  startOf: (sessionId: string, runId: string) => Promise<RunStart | undefined>;
  /** Tracks other work, which must not fail. */
  inBackground: (work: Promise<void>) => void;
  /** Resolves once nothing is in progress, whether it succeeded or not, before a process exits. */
  idle: () => Promise<void>;
}

/** Starts in progress at most: while Temporal is away each lasts until its deadline. */
const MAX_AT_ONCE = 200;

export function createStarts(deps: RunsCore & Pick<Stops, 'endUnstarted'>): Starts {
  const { store, workflows, temporal, pauses, agents, tracer } = deps;
  const { endUnstarted, lostSignal, logger } = deps;
  const leases = store.leases?.of(workflows.namespace);
  const starting = new Set<Promise<void>>();
  const others = new Set<Promise<void>>();

  async function toStart(
    { sessionId, runId, agent, turn, from, startAt }: StartableRun,
    tenant?: string,
  ): Promise<RunStart> {
    const userId = agents.isMade(agent) ? (await store.sessions.read(sessionId))?.owner : undefined;
    const definition = agents.resolve(agent, { sessionId, runId, userId, tenantId: tenant });
    const maxSteps = Math.min(resolveMaxSteps(definition), Number.MAX_SAFE_INTEGER);
    const shownId = toShownSessionId(sessionId);
    const sessionUrl = deps.sessionUrl?.(shownId, runId);
    const { trace } = legSpan({ runId, rootRunId: runId, number: 1 });
    const traceUrl = tracer?.urlOf({ trace, runId, sessionId: shownId });
    const input: RunInput = {
      sessionId,
      runId,
      agent,
      turn,
      maxSteps,
      searchAttributes: temporal?.searchAttributes === true,
      hasOutput: definition.outputSchema !== undefined,
      activities: definition.activities,
      // Either all workers hold leases or none does.
      hasLeases: ((await leases?.holders()) ?? []).length > 0,
      notify: deps.deliveries?.notify,
      model: deps.modelName,
      sessionUrl,
      traceparent: tracer?.request(),
      traceUrl,
      // Texts of failures are encrypted as well then.
      sealsFailures: hasCodec(temporal?.client.options.loadedDataConverter),
      startAt,
      from,
    };
    const details = [`Session \`${sessionId}\``, `Run \`${runId}\``];
    if (sessionUrl !== undefined) details.push(`[Conversation](${sessionUrl})`);
    if (traceUrl !== undefined) details.push(`[Trace](${traceUrl})`);
    return { input, labels: { details: details.join('\n\n'), tenant } };
  }

  async function begin(run: StartableRun, tenant?: string): Promise<void> {
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

  function launch(run: RunRecord, tenant: string | undefined, startAt?: number): void {
    const { runId } = run;
    wakeSuperseded(run, { tenant });
    if (starting.size >= MAX_AT_ONCE) {
      logger.warn({ runId }, 'too many runs are being started; the sweeper starts this one');
      return;
    }
    const start = async (): Promise<void> => {
      if (await pauses.hold({ ...run, tenant })) return;
      await begin({ ...run, startAt }, tenant);
    };
    const started = start()
      .catch((error: unknown) => {
        logger.warn({ err: error, runId }, 'the run could not be started; the sweeper starts it');
      })
      .finally(() => {
        starting.delete(started);
      });
    starting.add(started);
  }

  function wakeSuperseded(
    { supersededRunId: old, agent }: RunRecord,
    { tenant }: Pick<HeldRun, 'tenant'>,
  ): void {
    if (old === undefined) return;
    void workflows.wake(old).catch(lostSignal(old));
    inBackground(pauses.drop({ runId: old, agent, tenant }).catch(lostSignal(old)));
  }

  async function beginNext(sessionId: string): Promise<void> {
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    const result = await store.queue.begin({ sessionId, nonce: newNonce(), now: Date.now() });
    if (result.kind === 'begun') launch(result.run, result.tenant);
  }

  function inBackground(work: Promise<void>): void {
    const done = work.finally(() => others.delete(done));
    others.add(done);
  }

  async function isHeld(record: SessionRecord): Promise<boolean> {
    const held = toHeld(record);
    return (await pauses.hold(held)) || pauses.isHeld(held);
  }

  return {
    launch,
    wakeSuperseded,
    isHeld,
    inBackground,
    startRun: (record) => begin(toStartable(record), record.tenant),
    startNext: (sessionId) => {
      const begun = beginNext(sessionId);
      inBackground(begun.catch(() => undefined));
      return begun;
    },
    wake: async (runId, known) => {
      // The hint saves the run a read of its record, if it can be read here.
      const run = { sessionId: sessionOfRun(runId), runId };
      const read = async (): Promise<At | undefined> =>
        known ?? store.runs.next(run, { lists: true }).catch(() => undefined);
      const woken = read().then((at) => workflows.wake(runId, { at }));
      inBackground(woken.catch(() => undefined));
      await woken;
    },
    startOf: async (sessionId, runId) => {
      const record = await store.sessions.read(sessionId);
      if (record?.runId !== runId || record.status !== 'starting') return undefined;
      if (await isHeld(record)) return undefined;
      return toStart(toStartable(record), record.tenant);
    },
    idle: async () => {
      while (starting.size + others.size > 0) await Promise.all([...starting, ...others]);
    },
  };
}

/** Reads a startable run from its record, for a start that was lost. */
function toStartable(record: SessionRecord): StartableRun {
  const { runFromStep, runStartSequence } = record;
  // Progress of the turn before this run, which continues it.
  const from = runFromStep === 0 ? undefined : { step: runFromStep, known: runStartSequence };
  return { ...record, ...(from && { from }), startAt: startTimeOf(record) };
}
