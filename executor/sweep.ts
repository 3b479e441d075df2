import { HelixError } from '../protocol/errors.js';
import { isTerminal } from '../protocol/run.js';
import type { SessionRecord, SessionStore } from '../stores/session-store.js';
import type { RunWorkflows, WorkflowState } from './run-workflows.js';
import type { TemporalAgentExecutor } from './temporal-executor.js';

/** A session is looked at again after this long. */
const INTERVAL_MS = 5_000;
/** Sessions looked at in one sweep; the rest comes in the next one, oldest first. */
const PER_SWEEP = 200;
const AT_ONCE = 10;
/** Answers that nobody took for this long are signalled again. */
const UNTAKEN_MS = 2_000;

export interface SweepDeps {
  store: SessionStore;
  executor: TemporalAgentExecutor;
  workflows: RunWorkflows;
  /** Who sweeps; only one process does at a time. */
  holder: string;
  logger: { warn: (fields: object, message: string) => void };
}

/** What a run needs, by what the record and Temporal know of it. Pure. */
export function decideSweep(
  record: SessionRecord | undefined,
  workflow: WorkflowState | undefined,
  now: number,
): 'forget' | 'look' | 'start' | 'wake' | 'expire' | 'fail' | 'nothing' {
  if (record === undefined || isTerminal(record.status)) return 'forget';
  if (workflow === undefined) return 'look';
  if (workflow === 'unknown') return 'start';
  if (workflow === 'closed') return 'fail';
  const isUntaken = record.resume !== undefined && record.resumeTaken !== true;
  if (isUntaken && now - record.updatedAt > UNTAKEN_MS) return 'wake';
  // Its own timer should have: the clock decides, and whoever comes first.
  return record.deadline !== undefined && record.deadline <= now ? 'expire' : 'nothing';
}

/**
 * One sweep over sessions with a run: starts what was never started, wakes what missed its
 * wake-up, settles what is overdue, ends what Temporal no longer runs. Does nothing while another process sweeps.
 */
export function createSweep(deps: SweepDeps): () => Promise<void> {
  const { store, executor, workflows, holder, logger } = deps;

  async function lookAt(sessionId: string): Promise<void> {
    const record = await store.readRecord(sessionId);
    const first = decideSweep(record, undefined, Date.now());
    if (first === 'forget') return forget(sessionId);
    if (record === undefined) return;
    const state = await workflows.state(record.runId);
    // The run may have ended while Temporal was asked.
    const current = await store.readRecord(sessionId);
    if (current?.runId !== record.runId) return;
    switch (decideSweep(current, state, Date.now())) {
      case 'start':
        await executor.startRun(current);
        // A fresh execution finds the step that asked, and waits for the answers that were given.
        return wake(current);
      case 'wake':
        return wake(current);
      case 'expire':
        await executor.expireCalls(sessionId);
        return;
      case 'fail':
        logger.warn({ runId: current.runId }, 'a run was closed in Temporal before it ended');
        return executor.endLost(current);
      default:
        return;
    }
  }

  async function wake(record: SessionRecord): Promise<void> {
    if (record.resume !== undefined) await executor.wake(record, record.resume);
  }

  /** A run may begin between the look and the removal: then its session belongs on the list. */
  async function forget(sessionId: string): Promise<void> {
    await store.forgetDue(sessionId);
    const record = await store.readRecord(sessionId);
    if (record !== undefined && !isTerminal(record.status)) await store.noteDue(sessionId, 0);
  }

  return async () => {
    if (!(await store.leaseSweep(holder, INTERVAL_MS - 500))) return;
    const due = await store.dueSessions(PER_SWEEP, INTERVAL_MS);
    const next = due.values();
    const look = async (): Promise<void> => {
      for (const sessionId of next) {
        try {
          await lookAt(sessionId);
        } catch (error) {
          // An outage: this session is due again. Anything else should be read by somebody.
          if (!HelixError.isInstance(error)) logger.warn({ err: error, sessionId }, 'sweep failed');
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, look));
  };
}
