/** The workflows of a worker, the entry of the bundle; and what your workflows call. */
export { agentRun } from './agent-run.js';
export { agentBatch } from './batch.js';
export { deliver, notifyEnd, notifyWaiting } from './notices.js';
export { agentFiring } from './firing.js';
export { agentToolWork } from './tool-work.js';
export { runAgent, startAgent } from './run-agent.js';
export type { CalledAgentRun, RunAgentOptions } from './run-agent.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/called-runs.js';
