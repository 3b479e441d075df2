import type { Resumption } from '../protocol/run.js';
import type { StartNext } from '../stores/record/begin-next.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { decideSweep } from './decide-sweep.js';
import type { RunWorkflows } from './run-workflows.js';

export interface AttendDeps {
  store: Pick<Store, 'sessions' | 'waiting'>;
  workflows: Pick<RunWorkflows, 'state' | 'stop'>;
  startRun: (record: SessionRecord) => Promise<void>;
  wake: (record: SessionRecord, resume: Resumption) => Promise<void>;
  endLost: (record: SessionRecord) => Promise<void>;
  startNext: StartNext;
  /** Settles calls whose deadline has passed. */
  expireCalls: (sessionId: string) => Promise<unknown>;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * `rests`: nothing is active or waits, so no further look is needed. `waitsMs`: people are asked,
 * and for so long nothing happens that is not noted as due.
 */
export type Attended = 'rests' | 'lives' | { waitsMs: number };

/** A session that waits is looked at this often, however many there are. */
const WAITING_LOOK_MS = 60 * 60 * 1000;

/**
 * Looks after one session: starts what was never started, wakes what missed its wake-up, stops what
 * missed its stop, ends what Temporal no longer runs, settles what is overdue, begins what waits and
 * nobody has begun.
 */
export function createAttend(deps: AttendDeps): (sessionId: string) => Promise<Attended> {
  const { store, workflows, logger } = deps;

  async function wake(record: SessionRecord): Promise<void> {
    if (record.resume !== undefined) await deps.wake(record, record.resume);
    for (const { sessionId, runId, resume } of record.wakes ?? []) {
      await deps.wake({ ...record, sessionId, runId }, resume);
    }
  }

  return async (sessionId) => {
    const record = await store.sessions.read(sessionId);
    const first = decideSweep(record, undefined, Date.now());
    if (record === undefined || first === 'forget') return 'rests';
    if (first === 'begin') {
      await deps.startNext(sessionId);
      return 'lives';
    }
    const state = await workflows.state(record.runId);
    // The run may have ended while Temporal was asked.
    const current = await store.sessions.read(sessionId);
    if (current?.runId !== record.runId) return 'lives';
    // Inboxes find it by a list that is not of one piece with the record.
    if (current.stream === 'paused') await store.waiting.note(sessionId);
    switch (decideSweep(current, state, Date.now())) {
      case 'begin':
        await deps.startNext(sessionId);
        break;
      case 'start':
        await deps.startRun(current);
        // A fresh execution finds the step that asked, and waits for the answers that were given.
        await wake(current);
        break;
      case 'wake':
        await wake(current);
        break;
      case 'expire':
        await deps.expireCalls(sessionId);
        break;
      case 'fail':
        logger.warn({ runId: current.runId }, 'a run was closed in Temporal before it ended');
        await deps.endLost(current);
        break;
      case 'stop':
        await workflows.stop(current.runId, { recorded: true, ended: true });
        return 'rests';
      case 'forget':
        return 'rests';
      default:
        if (current.stream === 'paused') return { waitsMs: untilDeadline(current) };
    }
    return 'lives';
  };
}

function untilDeadline({ deadline = Infinity }: SessionRecord): number {
  return Math.min(Math.max(deadline - Date.now(), 0), WAITING_LOOK_MS);
}
