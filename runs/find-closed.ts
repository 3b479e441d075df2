import { rootOf, sessionOfRun } from '../protocol/ids.js';
import { isTerminal } from '../protocol/run.js';
import { TIMES, type Times } from '../protocol/times.js';
import type { Store } from '../store/contract/store.js';
import { isStalled } from './record/run-standing.js';
import { inLanes } from './sweep.js';
import type { RunWorkflows } from './run-workflows.js';

/** Temporal may list workflows in another order than they closed in. */
const OVERLAP_MS = 60_000;
/** Longest look back. */
const FURTHEST_MS = 60 * 60 * 1000;
/** Delay between searches of the open workflows. */
const OPEN_MS = 60_000;
const READS_AT_ONCE = 10;

export interface FindClosedDeps {
  store: Pick<Store, 'due' | 'sessions'>;
  workflows: Pick<RunWorkflows, 'closedSince' | 'openPage' | 'wake'>;
  holder: string;
  /** Default: `TIMES`. */
  times?: Times | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Finds runs on which Temporal and the record disagree, by queries instead of a look at each. It
 * notes as due sessions whose workflow was closed from outside, and those of silent runs, whose
 * note a failover may have lost. It signals workflows that outlive their run because they missed
 * its end. Does nothing while another process does it.
 */
export function createFindClosed(deps: FindClosedDeps): () => Promise<void> {
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
    const since = Math.max((newest ?? 0) - OVERLAP_MS, Date.now() - FURTHEST_MS);
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
    const { runIds, next } = await workflows.openPage(page).catch((error: unknown) => {
      page = undefined;
      throw error;
    });
    page = next;
    await inLanes(runIds, READS_AT_ONCE, async (runId) => {
      const found = await standingOf(runId);
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

  async function standingOf(runId: string): Promise<'active' | 'silent' | 'over' | 'unknown'> {
    const sessionId = sessionOfRun(runId);
    const own = await sessions.read(sessionId);
    // A sub-agent's first step creates its session.
    const record = own ?? (await sessions.read(rootOf(sessionId)));
    if (record === undefined) return 'unknown';
    const isReplaced = own !== undefined && own.runId !== runId;
    if (isReplaced || isTerminal(record.status)) return 'over';
    return isStalled(record, Date.now()) ? 'silent' : 'active';
  }

  return async () => {
    if (!(await due.leaseClosed(holder, times.lookAgainMs))) return;
    try {
      await findClosed();
    } finally {
      await endOutlived();
    }
  };
}
