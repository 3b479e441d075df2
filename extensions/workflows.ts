import type { RunInput, RunSummary } from '../protocol/run.js';
import { carryOutRun } from '../workflows/agent-run.js';
import { createNotices } from './notify/workflows.js';

/** The workflows of a worker, the entry of the bundle; and what your workflows call. */
export { deliver, notifyEnd, notifyWaiting } from './notify/workflows.js';
export { agentFiring } from './schedules/workflows.js';
export { agentToolWork } from './temporal-tools/workflows.js';
export { runAgent, startAgent } from '../workflows/run-agent.js';
export type { CalledAgentRun, RunAgentOptions } from '../workflows/run-agent.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/called-runs.js';

/** A run of an agent, with what extensions do beside it. */
export function agentRun(input: RunInput): Promise<RunSummary> {
  return carryOutRun(input, [createNotices]);
}
