import type { RunInput, RunSummary } from '../protocol/run.js';
import { carryOutRun } from '../workflows/agent-run.js';
import { createNotices } from './notify/workflows.js';

/** Entry of the workflow bundle, and the functions that your workflows call. */
export { deliver, notifyEnd, notifyWaiting } from './notify/workflows.js';
export { agentFiring } from './schedules/workflows.js';
export { agentToolWork } from './temporal-tools/workflows.js';
export { runAgent, startAgent } from '../workflows/run-agent.js';
export type { CalledAgentRun, RunAgentOptions } from '../workflows/run-agent.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/activities.js';

/** Executes a run of an agent together with its notices. */
export function agentRun(input: RunInput): Promise<RunSummary> {
  return carryOutRun(input, [createNotices]);
}
