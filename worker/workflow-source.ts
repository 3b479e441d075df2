import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

/** Bundled workflow code, or the file to bundle. */
export type WorkflowSource = { bundlePath: string } | { workflowsPath: string };

/** The bundle that the package brings. */
const BUILT: WorkflowSource = {
  bundlePath: fileURLToPath(new URL('../workflows/bundle.js', import.meta.url)),
};

/**
 * The worker's workflow code. A worker has one bundle: an owner who brings workflows of their own
 * exports `agentRun` of `helix-temporal/workflows` along with them.
 */
export function withWorkflows(
  options: WorkerOptions,
  source: WorkflowSource = BUILT,
): WorkerOptions {
  if (options.workflowsPath !== undefined || options.workflowBundle !== undefined) return options;
  return 'bundlePath' in source
    ? { ...options, workflowBundle: { codePath: source.bundlePath } }
    : { ...options, workflowsPath: source.workflowsPath };
}
