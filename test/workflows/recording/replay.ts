import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const codePath = fileURLToPath(new URL('../../../dist/workflows/bundle.js', import.meta.url));
const logger = new DefaultLogger('ERROR');

/** Replays a history on the workflow code of today; throws if that decides otherwise. */
export async function replay(json: string): Promise<void> {
  try {
    Runtime.install({ logger });
  } catch {
    // Installed before.
  }
  await Worker.runReplayHistory({ workflowBundle: { codePath } }, JSON.parse(json));
}
