import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { Store } from '../stores/contract/store.js';
import type { RunWorkflows } from './run-workflows.js';

/** One process queries Temporal this often. */
const INTERVAL_MS = 5_000;
/** Workflows may be listed in another order than they closed in, and clocks differ. */
const OVERLAP_MS = 60_000;
/** The first time, and after a long time without any worker. */
const FURTHEST_MS = 60 * 60 * 1000;

export interface FindClosedDeps {
  store: Pick<Store, 'due'>;
  workflows: Pick<RunWorkflows, 'closedSince'>;
  holder: string;
}

/**
 * Finds runs whose workflow was closed from outside, by one query instead of a look at each: their
 * sessions are noted as due. Does nothing while another process does it.
 */
export function createFindClosed({
  store,
  workflows,
  holder,
}: FindClosedDeps): () => Promise<void> {
  const { due } = store;
  /** The result of the last query: the overlap returns it again. */
  let known = new Set<string>();

  return async () => {
    if (!(await due.leaseClosed(holder, INTERVAL_MS))) return;
    const now = Date.now();
    const since = Math.max((await due.closedAt()) - OVERLAP_MS, now - FURTHEST_MS);
    const found = new Set(await workflows.closedSince(since));
    for (const runId of found) {
      const sessionId = sessionOfRun(runId);
      // A sub-agent's end is its parent's to see.
      if (!known.has(runId) && sessionId === rootOf(sessionId)) await due.note(sessionId, 0);
    }
    known = found;
    await due.noteClosed(now);
  };
}
