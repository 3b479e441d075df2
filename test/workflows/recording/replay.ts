import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

const workflowsPath = fileURLToPath(new URL('../../../workflows/index.ts', import.meta.url));
const logger = new DefaultLogger('ERROR');

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** Replays a history on the workflow code of today; throws if that decides otherwise. */
export async function replay(json: string): Promise<void> {
  try {
    Runtime.install({ logger });
  } catch {
    // Installed before.
  }
  bundle ??= bundleWorkflowCode({ workflowsPath, logger });
  await Worker.runReplayHistory({ workflowBundle: await bundle }, JSON.parse(json));
}
