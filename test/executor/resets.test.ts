import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSubAgentTool, defineAgent, defineTool } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { RunRecord } from '../../stores/contract/runs.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

/** Workflows are reset to before an answer that the record has used since. */

const executed: string[] = [];
const inputSchema = z.object({});

const tools = [
  defineTool({
    name: 'charge',
    description: 'Charges.',
    inputSchema,
    requireApproval: true,
    execute: (_, { toolCallId }) => {
      executed.push(toolCallId);
      return 'charged';
    },
  }),
  defineTool({
    name: 'hurry',
    description: 'Asks the page.',
    inputSchema,
    execute: 'client',
    deadlineMs: 200,
  }),
];

/** Its first step asks by the tool that the message names, its second one for a charge. */
const asking = (name: string, activities?: 'leg') =>
  defineAgent({
    name,
    systemPrompt: '',
    activities,
    tools,
    llmConfig: {
      model: fakeModel((_, { prompt }) => {
        const [content] = prompt.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
        const text = content?.[0] as { text: string } | undefined;
        const [tool = '', id = ''] = text?.text.split(' ') ?? [];
        const results = prompt.filter(({ role }) => role === 'tool').length;
        if (results === 2) return [...parts.text('done'), ...parts.finish()];
        const call =
          results === 0 ? parts.call(`${id}-1`, tool, {}) : parts.call(`${id}-2`, 'charge', {});
        return [...call, ...parts.finish('tool-calls')];
      }),
    },
  });
const delegating = defineAgent({
  name: 'delegating',
  systemPrompt: '',
  tools: [
    createSubAgentTool({
      name: 'delegate',
      description: 'Asks.',
      agent: asking('below'),
      inputSchema: z.object({ message: z.string() }),
      toMessage: ({ message }) => message,
    }),
  ],
  llmConfig: {
    model: fakeModel((_, { prompt }) => {
      const last = prompt.at(-1);
      if (last?.role === 'tool') return [...parts.text('done'), ...parts.finish()];
      const [content] = (last?.content ?? []) as { text: string }[];
      const call = parts.call('d', 'delegate', { message: content?.text });
      return [...call, ...parts.finish('tool-calls')];
    }),
  },
});
const AGENTS = [asking('step'), asking('leg', 'leg')];

let stores: TestStores;
let runs: RunHarness;
beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [...AGENTS, delegating]);
  await runs.startWorker();
});

async function untilAsked({ sessionId }: RunRecord, toolCallId: string): Promise<void> {
  await until(`${toolCallId} is asked`, async () => {
    const call = await stores.store.calls.read(sessionId, toolCallId);
    return call?.state === 'waiting';
  });
}

/** To the end of the task after which the run waited for its first answer, without signals if so wanted. */
async function reset({ runId }: RunRecord, withSignals: boolean): Promise<void> {
  const handle = runs.client.workflow.getHandle(workflowIdOf(runId));
  const { events } = await handle.fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  // The first one schedules the first step; its outcome is known to the second.
  const workflowTaskFinishEventId = tasks[1]?.eventId;
  const { workflowService } = runs.client;
  await workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: workflowIdOf(runId) },
    reason: 'by a test',
    requestId: randomUUID(),
    workflowTaskFinishEventId,
    // Temporal's numbers: all, or nothing.
    resetReapplyType: withSignals ? 3 : 2,
  });
  await until('the new execution waits', async () => !(await runs.workflows.look(runId)).isAtWork);
}

/** How the first question is answered; whether a reset loses the answer; whether the sweep is needed then. */
const WAYS = {
  deadline: { tool: 'hurry', withSignals: true, isSwept: false },
  update: { tool: 'charge', withSignals: true, isSwept: false },
  signal: { tool: 'charge', withSignals: false, isSwept: true },
} as const;

it.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
  'a run whose workflow is reset to before an answer that it has used goes on: %s',
  async (way) => {
    const { tool, withSignals, isSwept } = WAYS[way];
    await Promise.all(
      AGENTS.map(async ({ name }) => {
        const id = runs.newSessionId();
        const [first, second] = [`${id}-1`, `${id}-2`];
        const run = await runs.begin(id, name, `${tool} ${id}`);
        const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
        if (way !== 'deadline') await untilAsked(run, first);
        if (way === 'signal') await runs.decide(run, first, true);
        if (way === 'update') {
          await handle.executeUpdate('approve', { args: [{ toolCallId: first }] });
        }
        await untilAsked(run, second);
        await reset(run, withSignals);
        await runs.decide(run, second, true);
        if (isSwept) {
          await runs.sweepUntil(id, 'the run completes', ({ status }) => status === 'completed');
        } else await runs.untilStatus(id, 'completed');
        expect(await runs.result(run)).toMatchObject({ status: 'completed', steps: 3 });
        const own = executed.filter((call) => call.startsWith(id));
        expect(own).toEqual(way === 'deadline' ? [second] : [first, second]);
      }),
    );
  },
);

it('a sub-agent whose workflow is reset to before an answer that it has used goes on', async () => {
  const id = runs.newSessionId();
  const [first, second] = [`${id}-1`, `${id}-2`];
  const run = await runs.begin(id, 'delegating', `charge ${id}`);
  await untilAsked(run, first);
  const { spec } = (await stores.store.calls.read(id, first)) ?? {};
  const child = { ...run, runId: spec?.runId ?? '' };
  await runs.decide(child, first, true);
  await untilAsked(run, second);
  await reset(child, false);
  await runs.decide(child, second, true);
  await runs.sweepUntil(id, 'the run completes', ({ status }) => status === 'completed');
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  expect(executed.filter((call) => call.startsWith(id))).toEqual([first, second]);
});

it('a look is harmless at any time', async () => {
  const id = runs.newSessionId();
  const run = await runs.begin(id, 'step', `charge ${id}`);
  const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
  await handle.signal('look', { whatever: null });
  await untilAsked(run, `${id}-1`);
  const before = await stores.store.sessions.read(id);
  for (let times = 0; times < 3; times += 1) await handle.signal('look');
  expect(await handle.query('agentState')).toMatchObject({ phase: 'waiting' });
  expect(await stores.store.sessions.read(id)).toEqual(before);
  await runs.decide(run, `${id}-1`, true);
  await handle.signal('look');
  await untilAsked(run, `${id}-2`);
  await runs.decide(run, `${id}-2`, true);
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  await runs.workflows.wake(run.runId);
  expect(executed.filter((call) => call.startsWith(id))).toEqual([`${id}-1`, `${id}-2`]);
});
