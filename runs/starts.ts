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
  /** Ends a run that Temporal refuses to start. */
  endUnstarted: (record: SessionRecord) => Promise<void>;
  /** Logs a lost signal; others repeat it. */
  lostSignal: (runId: string) => (error: unknown) => void;
  logger: { warn: (fields: object, message: string) => void };
}

/** Starts workflows in the background, so that no request waits for Temporal. */
export interface Starts {
  /** Starts a run; the sweeper, which has it noted as due, repeats a failed start. */
  launch: (run: RunRecord, tenant: string | undefined, startAt?: number) => void;
  /** Starts a run whose workflow never started, or is no longer known to Temporal. */
  restart: (record: SessionRecord) => Promise<void>;
  /** Begins the next queued message, after each end of a run or by the sweeper. */
  startNext: StartNext;
  wakeSuperseded: (run: RunRecord) => void;
  wake: (runId: string) => Promise<void>;
  /** True for a run whose agent is paused, or was until just now. */
  isHeld: (record: SessionRecord) => Promise<boolean>;
  /** Returns the workflow's arguments; undefined once the run has begun, and while it may not. */
  startOf: (sessionId: string, runId: string) => Promise<RunStart | undefined>;
  /** Tracks other work, which must not fail. */
  inBackground: (work: Promise<void>) => void;
  /** Resolves once nothing is in progress, whether it succeeded or not. */
  idle: () => Promise<void>;
}

/** Starts in progress at most: while Temporal is away each lasts until its deadline. */
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
      // The hint saves the run a read of its record, if it can be read here.
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
