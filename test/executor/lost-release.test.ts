import { z } from 'zod';
import { defineAgent, defineTool } from '../../agents/index.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { plantCall } from '../support/stored-record.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const SHAPES = [undefined, 'leg'] as const;
const executed: string[] = [];
const inputSchema = z.object({});

const tools = [
  defineTool({
    name: 'nap',
    description: 'nap',
    inputSchema,
    execute: async (_, context) => {
      await context.sleep(new Date(Date.now() + 600_000));
      executed.push(context.sessionId + context.toolCallId);
      return 'rested';
    },
  }),
  defineTool({
    name: 'charge',
    description: 'charge',
    inputSchema,
    requireApproval: true,
    execute: (_, { sessionId, toolCallId }) => {
      executed.push(sessionId + toolCallId);
      return 'charged';
    },
  }),
];

const agents = SHAPES.map((activities) =>
  defineAgent({
    name: activities ?? 'step',
    systemPrompt: '',
    activities,
    tools,
    llmConfig: {
      model: fakeModel((_, { prompt }) => {
        const isFirst = prompt.at(-1)?.role === 'user';
        return isFirst
          ? [
              ...parts.call('n', 'nap', {}),
              ...parts.call('c', 'charge', {}),
              ...parts.finish('tool-calls'),
            ]
          : [...parts.text('done'), ...parts.finish()];
      }),
    },
  }),
);

let stores: TestStores;
let runs: RunHarness;

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, agents);
});

it('an approval whose signal was lost is carried out although a tool that slept has continued', async () => {
  const worker = await runs.startWorker();
  const begun = await Promise.all(
    agents.map(async ({ name }) => {
      const id = runs.newSessionId();
      const { runId } = await runs.begin(id, name, 'go');
      await runs.untilStatus(id, 'waiting_approval');
      return { id, runId, agent: name, session: drive(stores, id) };
    }),
  );
  await worker.stop();
  for (const { id, runId, agent, session } of begun) {
    const { openCalls = [] } = (await stores.store.sessions.view(id)) ?? {};
    const nap = openCalls.find(({ spec }) => spec.kind === 'timer')?.spec.toolCallId ?? '';
    await plantCall(stores.redis, id, nap, (call) => {
      call.deadline = 1;
    });
    const over = await stores.store.calls.settle({
      source: 'expiry',
      sessionId: id,
      agentType: agent,
      toolCallId: nap,
      runId,
      chunks: [],
      now: Date.now(),
      row: { role: 'tool', toolCallId: nap, toolName: 'sleep', output: null },
    });
    if (over.kind !== 'stored') throw new Error(over.kind);
    expect(over.resume).toMatchObject({ approved: ['n'], partial: true });
    const at = await stores.store.runs.next({ sessionId: id, runId }, { lists: true });
    await runs.workflows.wake(runId, { at });
    // Stored by a process that dies before it can signal.
    expect(await session.decide(runId, 'c', true)).toMatchObject({
      resume: { approved: ['n', 'c'] },
    });
  }
  await runs.startWorker();
  for (const { id } of begun) {
    await runs.sweepUntil(id, 'the run completes', ({ status }) => status === 'completed');
    const own = executed.filter((call) => call.startsWith(id));
    expect(own.sort()).toEqual([`${id}c`, `${id}n`]);
  }
}, 150_000);
