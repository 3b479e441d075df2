import { z } from 'zod';
import { createScriptedModel, defineTool } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { toolQueueOf } from '../../protocol/temporal.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { createGatedAgent } from '../support/gated-agent.js';
import { argumentOf } from '../support/history-of.js';
import { createRunHarness, useRuns, type RunHarness } from '../support/run-harness.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';

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
const agent = fakeAgent('eager', createScriptedModel(), { tools: [echo, tuned, asked] });

const { runs, stores } = useRuns([agent]);

async function perform(...calls: string[]): Promise<RunRecord> {
  const step = { calls: calls.map((tool, n) => ({ tool, id: `c${String(n)}` })) };
  const text = JSON.stringify({ script: [step, { say: 'done' }] });
  const run = await runs.begin(runs.newSessionId(), 'eager', text);
  expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
  return run;
}

/** Begins a run that waits for an approval. */
async function askPeople(of: RunHarness): Promise<RunRecord> {
  const script = [{ calls: [{ tool: 'asked', id: 'c' }] }, { say: 'done' }];
  const run = await of.begin(of.newSessionId(), 'eager', JSON.stringify({ script }));
  await of.untilStatus(run.sessionId, 'waiting_approval');
  return run;
}

/** Returns the activities of a run's calls, in the order of scheduling; a busy worker moves some. */
async function callsOf({ runId }: RunRecord) {
  const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'toolCall' ? scheduled : [],
  );
}

async function queuesOf(run: RunRecord): Promise<string[]> {
  return (await callsOf(run)).flatMap(({ taskQueue }) => taskQueue?.name ?? []);
}

describe('calls of a worker with places', () => {
  it.concurrent(
    'the first three of a step are scheduled where they can start eagerly, others on the tools’ own queue',
    async () => {
      const own = toolQueueOf(runs.taskQueue);
      const { taskQueue } = runs;
      expect((await queuesOf(await perform('echo')))[0]).toBe(taskQueue);
      const five = await queuesOf(await perform('echo', 'echo', 'echo', 'echo', 'echo'));
      expect(five.slice(0, 5)).toEqual([taskQueue, taskQueue, taskQueue, own, own]);
    },
  );

  it.concurrent('so are those that people release later', async () => {
    const run = await askPeople(runs);
    await runs.decide(run, 'c', true);
    expect(await runs.result(run)).toEqual({ status: 'completed', steps: 2 });
    expect((await queuesOf(run))[0]).toBe(runs.taskQueue);
  });

  it.concurrent(
    'a released call that finds all slots taken moves to the tools’ own queue',
    async () => {
      const gated = createGatedAgent();
      const own = await createRunHarness(stores, [agent, gated.agent]);
      await own.startWorker({ modelSlots: 4 });
      const run = await askPeople(own);
      const gates = ['a', 'b', 'c', 'd'];
      for (const gate of gates) await own.begin(own.newSessionId(), 'gated', `speak ${gate}`);
      await Promise.all(gates.map((gate) => gated.reached(gate)));
      await own.decide(run, 'c', true);
      const hasResult = async (): Promise<boolean> =>
        (await stores.store.sessions.withCalls(run.sessionId))?.openCalls[0]?.state === 'settled';
      await until('the tool has been executed', hasResult);
      for (const gate of gates) gated.open(gate);
      expect(await own.result(run)).toEqual({ status: 'completed', steps: 2 });
      expect(await queuesOf(run)).toEqual([own.taskQueue, toolQueueOf(own.taskQueue)]);
      const calls = await callsOf(run);
      expect(calls.map(argumentOf)).toMatchObject([
        { eager: true, isLeased: true },
        { isLeased: true, replaces: { unbegun: 1 } },
      ]);
      // No worker was lost, so heartbeats stay a backstop.
      expect(calls.map(({ heartbeatTimeout }) => Number(heartbeatTimeout?.seconds))).toEqual([
        90, 90,
      ]);
    },
  );

  it.concurrent(
    'those whose tools have settings of their own for their activity are scheduled on the tools’ own queue',
    async () => {
      expect(await queuesOf(await perform('tuned'))).toEqual([toolQueueOf(runs.taskQueue)]);
    },
  );
});
