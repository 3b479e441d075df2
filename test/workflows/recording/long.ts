import { workflowIdOf } from '../../../protocol/ids.js';
import type { History, Stage } from './stage.js';

/** Records both executions of a run that continues as new, on a server that suggests it early. */
export async function recordLong(stage: Stage): Promise<Record<string, History>> {
  const calls = [{ tool: 'note' }];
  const run = await stage.play([{ calls }, { calls }, { calls }, { calls }, { calls }]);
  const { workflow } = stage.runs.client;
  const first = await workflow.getHandle(workflowIdOf(run.runId)).describe();
  await stage.history(run.runId);
  const last = await workflow.getHandle(workflowIdOf(run.runId)).describe();
  return {
    'goes-on-as-new': await stage.history(run.runId, first.runId),
    'gone-on-as-new': await stage.history(run.runId, last.runId),
  };
}
