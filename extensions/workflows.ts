import type { RunInput, RunSummary } from '../protocol/run.js';
import type { FiringNote, ScheduledRun } from '../protocol/schedules.js';
import { carryOutRun } from '../workflows/agent-run.js';
import { startAgent } from './called-runs/workflows.js';
import { createNotices } from './notify/workflows.js';
import { carryOutFiring } from './schedules/workflows.js';

/** Entry of the workflow bundle, and the functions that your workflows call. */
export { deliver, notifyEnd, notifyWaiting } from './notify/workflows.js';
export { agentToolWork } from './temporal-tools/workflows.js';
export { runAgent, startAgent } from './called-runs/workflows.js';
export type { CalledAgentRun, RunAgentOptions } from './called-runs/workflows.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/activities.js';

/** Executes a run of an agent together with its notices. */
export function agentRun(input: RunInput): Promise<RunSummary> {
  return carryOutRun(input, [createNotices]);
}

/** Executes one firing of a schedule. */
export function agentFiring(scheduled: ScheduledRun): Promise<FiringNote> {
  return carryOutFiring(scheduled, startAgent);
}
