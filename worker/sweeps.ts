import { createRelease } from '../executor/agent-pauses.js';
import type { Runs } from '../executor/runs.js';
import { createFindClosed } from '../executor/find-closed.js';
import type { RunWorkflows } from '../executor/run-workflows.js';
import { createSweep } from '../executor/sweep.js';
import type { Store } from '../stores/contract/store.js';
import type { AuditLogger } from '../stores/record/listeners.js';

export interface SweepsDeps {
  /** With the due list of this fleet. */
  store: Store;
  runs: Pick<Runs, 'sweepSession' | 'finishErasures' | 'startRun'>;
  workflows: Pick<RunWorkflows, 'fleet' | 'closedSince' | 'openPage' | 'wake'>;
  startWithinMs: number | undefined;
  /** Names this process. */
  holder: string;
  logger: AuditLogger;
}

/** What a worker does again and again for the runs of its fleet; processes share the work by leases. */
export function createSweeps(deps: SweepsDeps): (() => Promise<void>)[] {
  const { store, runs, workflows, startWithinMs, holder, logger } = deps;
  const pauses = store.pauses.of(workflows.fleet);
  const { startRun } = runs;
  return [
    createSweep({ store, runs, holder, logger }),
    createFindClosed({ store, workflows, holder, logger }),
    createRelease({ pauses, store, startRun, holder, startWithinMs, logger }),
  ];
}
