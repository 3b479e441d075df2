import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

const codePath = fileURLToPath(new URL('../../../dist/workflows/bundle.js', import.meta.url));
const logger = new DefaultLogger('ERROR');

/** Replays a history on today's workflow code; throws if the code decides otherwise. */
export async function replay(json: string): Promise<void> {
  try {
    Runtime.install({ logger });
  } catch {
    // An earlier replay installed the runtime.
  }
  await Worker.runReplayHistory({ workflowBundle: { codePath } }, JSON.parse(json));
}
