import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

const codePath = fileURLToPath(new URL('../../../dist/workflows/bundle.js', import.meta.url));
const logger = new DefaultLogger('ERROR');

/** Replays a history on today's workflow code; throws if the code decides otherwise. */
export async function replay(json: string): Promise<void> {
  try {
    Runtime.install({ logger });
  } catch {
    // An earlier replay installed the runtime.
  }
  try {
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, JSON.parse(json));
  } finally {
    // A replay leaves a hook that compiles code for each promise of the test files after this one.
    globalHandlers.uninstall();
  }
}
