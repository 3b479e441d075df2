/** The workflows of a worker, the entry of the bundle; and what your workflows call. */
export { agentRun } from '../extensions/workflows/agent-run.js';
export { deliver, notifyEnd, notifyWaiting } from '../extensions/workflows/notices.js';
export { agentFiring } from '../extensions/workflows/firing.js';
export { agentToolWork } from '../extensions/workflows/tool-work.js';
export { runAgent, startAgent } from '../extensions/workflows/run-agent.js';
export type { CalledAgentRun, RunAgentOptions } from '../extensions/workflows/run-agent.js';
export type { CalledRunOptions, CalledRunResult, CalledRunUsage } from '../protocol/called-runs.js';
