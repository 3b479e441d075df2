import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import type { RunInput, RunSummary } from '../protocol/run.js';
import type { FiringNote, ScheduledRun } from '../protocol/schedules.js';
import { executeRun } from '../workflows/agent-run.js';
import { startAgent } from './called-runs/workflows.js';
import { createNotices, deliver, notifyEnd, notifyWaiting } from './notify/workflows.js';
import { carryOutFiring } from './schedules/workflows.js';
import { agentToolWork } from './temporal-tools/workflows.js';

/** Entry of the workflow bundle, and the functions that your workflows call. */
export { agentToolWork, deliver, notifyEnd, notifyWaiting };
export { runAgent, startAgent } from './called-runs/workflows.js';
export type { CalledAgentRun, RunAgentOptions } from './called-runs/workflows.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/temporal.js';

/** Executes a run of an agent together with its notices. */
export function agentRun(input: RunInput): Promise<RunSummary> {
  return executeRun(input, [createNotices]);
}

/** Executes one firing of a schedule. */
export function agentFiring(scheduled: ScheduledRun): Promise<FiringNote> {
  return carryOutFiring(scheduled, startAgent);
}

// These may wait for weeks, with people or for a receiver. No record tells them where to begin again,
// so that of versioned workers the current build replays them, and no former one has to stay.
const WAITING = [agentFiring, agentToolWork, deliver, notifyEnd, notifyWaiting];
for (const workflow of WAITING as ((input: never) => Promise<unknown>)[])
  setWorkflowOptions(() => {
    const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
    // Temporal refuses the tasks of an unversioned worker that names a behaviour.
    return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
  }, workflow);
