import type { Times } from '../protocol/times.js';
import { createRelease } from '../runs/agent-pauses.js';
import type { Runs } from '../runs/runs.js';
import { createFindClosed } from '../runs/sweep.js';
import type { RunWorkflows } from '../runs/run-workflows.js';
import { createSweep } from '../runs/sweep.js';
import type { Store } from '../store/contract/store.js';
import type { AuditLogger } from '../runs/record/listeners.js';

export interface SweepsDeps {
  store: Store;
  runs: Pick<Runs, 'sweepSession' | 'finishErasures' | 'startRun'>;
  workflows: Pick<RunWorkflows, 'fleet' | 'closedSince' | 'openPage' | 'wake'>;
  startWithinMs: number | undefined;
  holder: string;
  times?: Times | undefined;
  logger: AuditLogger;
}

/** Creates the sweeps over the runs of a worker's fleet; processes share them by leases. */
export function createSweeps(deps: SweepsDeps): (() => Promise<void>)[] {
  const { store, runs, workflows, startWithinMs, holder, times, logger } = deps;
  const pauses = store.pauses.of(workflows.fleet);
  const { startRun } = runs;
  return [
    createSweep({ store, runs, holder, times, logger }),
    createFindClosed({ store, workflows, holder, times, logger }),
    createRelease({ pauses, store, startRun, holder, startWithinMs, logger }),
  ];
}
