import { HelixError } from '../protocol/errors.js';
import type { Resumption } from '../protocol/run.js';
import type { StartNext } from '../stores/record/begin-next.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { decideSweep } from './decide-sweep.js';
import type { RunWorkflows, WorkflowState } from './run-workflows.js';

export interface AttendDeps {
  store: Pick<Store, 'sessions' | 'waiting'>;
  workflows: Pick<RunWorkflows, 'state' | 'stop'>;
  startRun: (record: SessionRecord) => Promise<void>;
  wake: (record: SessionRecord, resume: Resumption) => Promise<void>;
  endLost: (record: SessionRecord) => Promise<void>;
  /** Ends a run that could not be started. */
  endUnstarted: (record: SessionRecord) => Promise<void>;
  /** Ends a run whose writer does not confirm its stop. */
  enforceStop: (sessionId: string, runId: string) => Promise<void>;
  startNext: StartNext;
  /** Settles calls whose deadline has passed. */
  expireCalls: (sessionId: string) => Promise<unknown>;
  /** Runs that are not started within this time end. */
  startWithinMs: number;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * How a session was found. `rests`: nothing is active or waits. `works`: it is to be looked at again
 * after this time. `waits`: people are asked, and nothing happens that is not noted as due.
 */
export type Attended =
  | { kind: 'rests' }
  | { kind: 'works'; againMs: number }
  | { kind: 'waits'; untilDeadlineMs: number };

/** How much may be asked of Temporal; each use takes one. */
export interface SweepBudget {
  looks: number;
  starts: number;
}

/** At work, or something was done just now. */
const AGAIN_MS = 5_000;
/** The longer a run says nothing, the less often it is looked at; what gets lost is noted anyway. */
const SELDOM_MS = 60_000;
const UNSTARTED_MS = 15_000;

/**
 * Looks after one session: starts what was never started, wakes what missed its wake-up, stops what
 * missed its stop, ends what Temporal no longer runs or never took, settles what is overdue, begins
 * what waits and nobody has begun.
 */
export function createAttend(
  deps: AttendDeps,
): (sessionId: string, budget?: SweepBudget) => Promise<Attended> {
  const { store, workflows, startWithinMs, logger } = deps;
  const again: Attended = { kind: 'works', againMs: AGAIN_MS };
  const decide = (
    record: SessionRecord | undefined,
    state?: WorkflowState,
  ): ReturnType<typeof decideSweep> =>
    decideSweep(record, state, { now: Date.now(), startWithinMs });

  async function wake(record: SessionRecord): Promise<void> {
    if (record.resume !== undefined) await deps.wake(record, record.resume);
    for (const { sessionId, runId, resume } of record.wakes ?? []) {
      await deps.wake({ ...record, sessionId, runId }, resume);
    }
  }

  /** A run that waits to be started does not outlive its time because nobody can be asked about it. */
  async function stateOf(record: SessionRecord): Promise<WorkflowState> {
    try {
      return await workflows.state(record.runId);
    } catch (error) {
      const isAway = HelixError.isInstance(error) && error.code === 'unavailable';
      if (isAway && decide(record, 'unknown') === 'give_up') return 'unknown';
      throw error;
    }
  }

  async function act(
    decision: ReturnType<typeof decideSweep>,
    record: SessionRecord,
    budget: SweepBudget,
  ): Promise<Attended> {
    const { sessionId, runId } = record;
    switch (decision) {
      case 'begin':
        await deps.startNext(sessionId);
        return again;
      case 'start':
        if (budget.starts <= 0) return { kind: 'works', againMs: untilNextTry(record) };
        budget.starts -= 1;
        await deps.startRun(record);
        // A fresh execution finds the step that asked, and waits for the answers that were given.
        await wake(record);
        return again;
      case 'give_up':
        logger.warn({ runId }, 'a run was not started in time');
        await deps.endUnstarted(record);
        return again;
      case 'enforce':
        await deps.enforceStop(sessionId, runId);
        return again;
      case 'wake':
        await wake(record);
        return again;
      case 'expire':
        await deps.expireCalls(sessionId);
        return again;
      case 'fail':
        logger.warn({ runId }, 'a run was closed in Temporal before it ended');
        await deps.endLost(record);
        return again;
      case 'stop':
        await workflows.stop(runId, { recorded: true, ended: true });
        return { kind: 'rests' };
      case 'forget':
        return { kind: 'rests' };
      default:
        return toStanding(record);
    }
  }

  return async (sessionId, budget = { looks: Infinity, starts: Infinity }) => {
    const record = await store.sessions.read(sessionId);
    const first = decide(record);
    if (record === undefined || first !== 'look') {
      return record === undefined ? { kind: 'rests' } : act(first, record, budget);
    }
    if (budget.looks <= 0) return { kind: 'works', againMs: untilNextTry(record) };
    budget.looks -= 1;
    const state = await stateOf(record);
    // The run may have ended while Temporal was asked.
    const current = await store.sessions.read(sessionId);
    if (current?.runId !== record.runId) return again;
    // Inboxes find it by a list that is not of one piece with the record.
    if (current.stream === 'paused') await store.waiting.note(sessionId);
    return act(decide(current, state), current, budget);
  };
}

function toStanding(record: SessionRecord): Attended {
  const { stream, updatedAt, deadline = Infinity } = record;
  const now = Date.now();
  if (stream === 'paused') return { kind: 'waits', untilDeadlineMs: Math.max(deadline - now, 0) };
  const againMs = Math.min(Math.max((now - updatedAt) / 2, AGAIN_MS), SELDOM_MS);
  return { kind: 'works', againMs: Math.min(againMs, Math.max(deadline - now, AGAIN_MS)) };
}

/** Those that wait longest for their start are asked about less often; their order stays. */
function untilNextTry({ runStartedAt }: SessionRecord): number {
  return Math.min(Math.max((Date.now() - runStartedAt) / 4, AGAIN_MS), UNSTARTED_MS);
}
