import { sessionOfRun } from '../protocol/ids.js';
import type { RunRecord } from '../store/contract/runs.js';
import type { Pauses } from '../store/contract/pauses.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import type { StartNext } from './record/listeners.js';
import { toHeld } from './agent-pauses.js';
import { isRefusedForGood } from './temporal-calls.js';
import { FIRST_SWEEP_MS, newNonce } from './reruns.js';
import { toStartable, type RunStart, type StartableRun, type ToRunStart } from './run-start.js';
import type { RunWorkflows } from './run-workflows.js';

export interface StartsDeps {
  store: Pick<Store, 'sessions' | 'runs' | 'queue'> & { due: ReturnType<Store['due']['of']> };
  workflows: Pick<RunWorkflows, 'start' | 'wake'>;
  pauses: Pauses;
  toStart: ToRunStart;
  /** Ends a run that Temporal refuses. */
  endUnstarted: (record: SessionRecord) => Promise<void>;
  /** Logs that a signal was lost: others send it again. */
  lostSignal: (runId: string) => (error: unknown) => void;
  logger: { warn: (fields: object, message: string) => void };
}

/** Starts of workflows, in the background of the requests that made the runs: none of them waits for Temporal. */
export interface Starts {
  /** A start that fails is left to the sweeper, since the run is noted as due. */
  launch: (run: RunRecord, tenant: string | undefined, startAt?: number) => void;
  /** For a run whose workflow was never started, or is no longer known to Temporal. */
  restart: (record: SessionRecord) => Promise<void>;
  /** Begins the next queued message: after each end of a run, and by the sweeper for a queue that is left. */
  startNext: StartNext;
  wakeSuperseded: (run: RunRecord) => void;
  /** Lets a run go on. */
  wake: (runId: string) => Promise<void>;
  /** True for a run whose agent is paused, or was until a moment ago. */
  isHeld: (record: SessionRecord) => Promise<boolean>;
  /** What the run's workflow is started with; undefined once it has begun, and while it may not. */
  startOf: (sessionId: string, runId: string) => Promise<RunStart | undefined>;
  /** Notes other work that does not fail. */
  inBackground: (work: Promise<void>) => void;
  /** Resolves when nothing is in progress, whether it succeeded or not. */
  idle: () => Promise<void>;
}

/** While Temporal is away each start lasts until its deadline: at most this many are in progress. */
const MOST_AT_ONCE = 200;

export function createStarts(deps: StartsDeps): Starts {
  const { store, workflows, pauses, toStart, endUnstarted, lostSignal, logger } = deps;
  const starting = new Set<Promise<void>>();
  const others = new Set<Promise<void>>();

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

  function launch(run: RunRecord, tenant: string | undefined, startAt?: number): void {
    const { runId } = run;
    wakeSuperseded(run);
    if (starting.size >= MOST_AT_ONCE) {
      logger.warn({ runId }, 'too many runs are being started; the sweeper starts this one');
      return;
    }
    const start = async (): Promise<void> => {
      if (await pauses.hold({ ...run, tenant })) return;
      await startRun({ ...run, startAt }, tenant);
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

  function wakeSuperseded({ supersededRunId: old }: RunRecord): void {
    if (old !== undefined) void workflows.wake(old).catch(lostSignal(old));
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
    restart: (record) => startRun(toStartable(record), record.tenant),
    startNext: (sessionId) => {
      const begun = beginNext(sessionId);
      inBackground(begun.catch(() => undefined));
      return begun;
    },
    wake: async (runId) => {
      // The hint saves the run a look at its record, where that can be read.
      const run = { sessionId: sessionOfRun(runId), runId };
      const at = await store.runs.next(run, { lists: true }).catch(() => undefined);
      await workflows.wake(runId, { at });
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
