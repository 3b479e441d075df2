import { rootOf, sessionOfRun } from '../protocol/ids.js';
import { TIMES } from '../protocol/limits.js';
import { isTerminal } from '../protocol/run.js';
import type { Store } from '../store/contract/store.js';
import { isStalled } from './record/newest-run.js';
import type { RunWorkflows } from './run-workflows.js';
import { inLanes, type SweepDeps } from './sweep.js';

/** Temporal may list workflows in another order than they closed in. */
const OVERLAP_MS = 60_000;
const MAX_MS = 60 * 60 * 1000;
/** Delay between searches of the open workflows. */
const OPEN_MS = 60_000;
/** A workflow closes a moment after its run has ended, and Temporal lists it as open until later. */
const CLOSES_MS = 10_000;
const READS_AT_ONCE = 10;

export interface ReconcileDeps extends Pick<SweepDeps, 'holder' | 'times' | 'logger'> {
  store: Pick<Store, 'due' | 'sessions'>;
  workflows: Pick<RunWorkflows, 'closedSince' | 'openPage' | 'wake'>;
}

/**
 * Finds runs on which Temporal and the record disagree, by queries instead of a look at each. It
 * notes as due those whose workflow was closed from outside and silent ones, whose note a failover
 * may have lost, and signals workflows that missed the end of their run.
 */
export function createReconcile(deps: ReconcileDeps): () => Promise<void> {
  const { store, workflows, holder, times = TIMES, logger } = deps;
  const { due, sessions } = store;
  /** The result of the last query, which the overlap returns again. */
  let known = new Set<string>();
  /** Close time of the newest, by Temporal's clock, since this process's may be ahead. */
  let newest: number | undefined;
  let page: Awaited<ReturnType<RunWorkflows['openPage']>>['next'];
  let openAgainAt = 0;

  async function findClosed(): Promise<void> {
    // After days in which another process did this, the list would be too long.
    const since = Math.max((newest ?? 0) - OVERLAP_MS, Date.now() - MAX_MS);
    const found = new Set<string>();
    for (const { runId, closedAt } of await workflows.closedSince(since)) {
      found.add(runId);
      newest = Math.max(newest ?? closedAt, closedAt);
      const sessionId = sessionOfRun(runId);
      // A parent handles the end of its sub-agent.
      if (!known.has(runId) && sessionId === rootOf(sessionId)) await due.note(sessionId, 0);
    }
    known = found;
  }

  /** Handles one page at a time. */
  async function endOutlived(): Promise<void> {
    if (page === undefined && performance.now() < openAgainAt) return;
    openAgainAt = performance.now() + OPEN_MS;
    const from = page;
    page = undefined;
    const { runIds, next } = await workflows.openPage(from);
    page = next;
    await inLanes(runIds, READS_AT_ONCE, async (runId) => {
      const found = await stateOf(runId);
      if (found === 'active') return;
      if (found === 'silent') {
        await due.note(rootOf(sessionOfRun(runId)), 0);
        return;
      }
      logger.warn({ runId }, 'a workflow is open although its run is over');
      await workflows.wake(runId, { ended: found === 'over' }).catch((error: unknown) => {
        logger.warn({ err: error, runId }, 'the run could not be signalled');
      });
    });
  }

  async function stateOf(runId: string): Promise<'active' | 'silent' | 'over' | 'unknown'> {
    const sessionId = sessionOfRun(runId);
    const own = await sessions.read(sessionId);
    // A sub-agent's first step creates its session.
    const record = own ?? (await sessions.read(rootOf(sessionId)));
    if (record === undefined) return 'unknown';
    const isReplaced = own !== undefined && own.runId !== runId;
    if (isReplaced || isTerminal(record.status)) {
      const overSince = isReplaced ? record.runStartedAt : record.updatedAt;
      return Date.now() - overSince < CLOSES_MS ? 'active' : 'over';
    }
    return isStalled(record, Date.now()) ? 'silent' : 'active';
  }

  return async () => {
    if (!(await due.leaseWork('find closed', holder, times.lookAgainMs))) return;
    try {
      await findClosed();
    } finally {
      await endOutlived();
    }
  };
}
