/** The workflows of a worker: the entry of the bundle. */
export { agentRun } from './agent-run.js';
export { agentBatch } from './batch.js';
export { deliver, notifyEnd, notifyWaiting } from './notices.js';
