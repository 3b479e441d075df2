import { z } from 'zod';
import { createScriptedModel, defineAgent, defineTool } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { toolQueueOf } from '../../protocol/temporal-names.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { useRuns } from '../support/run-harness.js';

const config = {
  description: 'Says it again.',
  inputSchema: z.object({}),
  execute: () => 'again',
};
const echo = defineTool({ name: 'echo', ...config });
const tuned = defineTool({
  name: 'tuned',
  ...config,
  activity: { retry: { maximumAttempts: 2 } },
});
const asked = defineTool({ name: 'asked', ...config, requireApproval: true });
const agent = defineAgent({
  name: 'eager',
  systemPrompt: '',
  tools: [echo, tuned, asked],
  llmConfig: { model: createScriptedModel() },
});

const { runs } = useRuns([agent]);

async function perform(...calls: string[]): Promise<RunRecord> {
  const step = { calls: calls.map((tool, n) => ({ tool, id: `c${String(n)}` })) };
  const text = JSON.stringify({ script: [step, { say: 'done' }] });
  const run = await runs.begin(runs.newSessionId(), 'eager', text);
  expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
  return run;
}

/** Returns the task queues of a run's calls, in the order of scheduling. */
async function queuesOf({ runId }: RunRecord): Promise<string[]> {
  const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'toolCall' ? (scheduled.taskQueue?.name ?? []) : [],
  );
}

describe('calls of a worker with places', () => {
  it('the first three of a step are scheduled where they can start eagerly, others on the tools’ own queue', async () => {
    const own = toolQueueOf(runs.taskQueue);
    const { taskQueue } = runs;
    expect(await queuesOf(await perform('echo'))).toEqual([taskQueue]);
    const five = await queuesOf(await perform('echo', 'echo', 'echo', 'echo', 'echo'));
    expect(five).toEqual([taskQueue, taskQueue, taskQueue, own, own]);
  });

  it('those that people release later are scheduled on the tools’ own queue', async () => {
    const run = await runs.begin(
      runs.newSessionId(),
      'eager',
      JSON.stringify({ script: [{ calls: [{ tool: 'asked', id: 'c' }] }, { say: 'done' }] }),
    );
    await runs.untilStatus(run.sessionId, 'waiting_approval');
    await runs.decide(run, 'c', true);
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect(await queuesOf(run)).toEqual([toolQueueOf(runs.taskQueue)]);
  });

  it('so are not those whose tools have settings of their own for their activity', async () => {
    expect(await queuesOf(await perform('tuned'))).toEqual([toolQueueOf(runs.taskQueue)]);
  });
});
