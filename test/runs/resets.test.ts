import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSubAgentTool } from '../../agents/index.js';
import { workflowIdOf } from '../../protocol/ids.js';
import { isTerminal } from '../../protocol/run.js';
import type { RunRecord } from '../../store/contract/runs.js';
import { fakeModel, parts } from '../support/fake-model.js';
import type { HistoryEvent } from '../support/history-of.js';
import { useRuns } from '../support/run-harness.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';
import { fakeTool } from '../support/fake-tool.js';

/** Operators reset workflows to before an answer that the record has used. */

const executed: string[] = [];
const inputSchema = z.object({});

const tools = [
  fakeTool(
    'charge',
    (_, { toolCallId }) => {
      executed.push(toolCallId);
      return 'charged';
    },
    { inputSchema, requireApproval: true },
  ),
  fakeTool('hurry', 'client', { inputSchema, deadlineMs: 200 }),
];

/** Calls the message's tool in its first step and a charge in its second. */
const asking = (name: string, activities?: 'leg') =>
  fakeAgent(
    name,
    fakeModel((_, { prompt }) => {
      const [content] = prompt.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
      const text = content?.[0] as { text: string } | undefined;
      const [tool = '', id = ''] = text?.text.split(' ') ?? [];
      const results = prompt.filter(({ role }) => role === 'tool').length;
      if (results === 2) return parts.says('done');
      const call =
        results === 0 ? parts.call(`${id}-1`, tool, {}) : parts.call(`${id}-2`, 'charge', {});
      return parts.asks(call);
    }),
    { activities, tools },
  );
const delegating = fakeAgent(
  'delegating',
  fakeModel((_, { prompt }) => {
    const last = prompt.at(-1);
    if (last?.role === 'tool') return parts.says('done');
    const [content] = (last?.content ?? []) as { text: string }[];
    const call = parts.call('d', 'delegate', { message: content?.text });
    return parts.asks(call);
  }),
  {
    tools: [
      createSubAgentTool({
        name: 'delegate',
        description: 'Asks.',
        agent: asking('below'),
        inputSchema: z.object({ message: z.string() }),
        toMessage: ({ message }) => message,
      }),
    ],
  },
);
const AGENTS = [asking('step'), asking('leg', 'leg')];
/** Misses a page's deadline, waits for a sub-agent that asks twice, then asks itself. */
const deep = (name: string, activities?: 'leg') =>
  fakeAgent(
    name,
    fakeModel((_, { prompt }) => {
      const [content] = prompt.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
      const id = (content?.[0] as { text: string } | undefined)?.text ?? '';
      const results = prompt.filter(({ role }) => role === 'tool').length;
      const steps = [
        parts.call(`${id}-h`, 'hurry', {}),
        parts.call(`${id}-d`, 'delegate', { message: `charge ${id}-below` }),
        parts.call(`${id}-p`, 'charge', {}),
      ];
      const call = steps[results];
      return call === undefined ? parts.says('done') : parts.asks(call);
    }),
    { activities, tools: [...tools, ...delegating.tools] },
  );
const DEEP = [deep('deep'), deep('deep-leg', 'leg')];

const { runs, stores } = useRuns([...AGENTS, ...DEEP, delegating]);

async function untilAsked({ sessionId }: RunRecord, toolCallId: string): Promise<void> {
  await until(`${toolCallId} is asked`, async () => {
    const call = await stores.store.calls.read(sessionId, toolCallId);
    return call?.state === 'waiting';
  });
}

/** Returns the ids of the events to which the run's workflow can be reset. */
async function tasksOf({ runId }: RunRecord): Promise<NonNullable<ResetTo>[]> {
  const { events } = await runs.client.workflow.getHandle(workflowIdOf(runId)).fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed, eventId }) =>
    completed == null || eventId == null ? [] : eventId,
  );
}

type ResetTo = Parameters<
  typeof runs.client.workflowService.resetWorkflowExecution
>[0]['workflowTaskFinishEventId'];

/** Resets to the end of the task after which the run first waited, unless `to` names another. */
async function reset(
  { runId }: RunRecord,
  withSignals: boolean,
  to?: ResetTo,
  execution?: string,
): Promise<void> {
  // The first task schedules the first step; the second knows its outcome.
  const workflowTaskFinishEventId = to ?? (await tasksOf({ runId } as RunRecord))[1];
  const { workflowService } = runs.client;
  await workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: workflowIdOf(runId), runId: execution ?? '' },
    reason: 'by a test',
    requestId: randomUUID(),
    ...(workflowTaskFinishEventId != null && { workflowTaskFinishEventId }),
    // Temporal's enum: 3 reapplies all signals, 2 none.
    resetReapplyType: withSignals ? 3 : 2,
  });
}

async function untilItRests({ runId }: RunRecord): Promise<void> {
  await until('the new execution waits', async () => !(await runs.workflows.look(runId)).isAtWork);
}

/** Ways of the first answer. A reset without signals loses it, so the run needs a sweep. */
const WAYS = {
  deadline: { tool: 'hurry', withSignals: true, isSwept: false },
  update: { tool: 'charge', withSignals: true, isSwept: false },
  signal: { tool: 'charge', withSignals: false, isSwept: true },
} as const;

it.concurrent.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
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
        await untilItRests(run);
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

/** Begins a run whose sub-agent asks for the first of two calls. */
async function beginDelegated() {
  const id = runs.newSessionId();
  const [first, second] = [`${id}-1`, `${id}-2`];
  const run = await runs.begin(id, 'delegating', `charge ${id}`);
  await untilAsked(run, first);
  const { spec } = (await stores.store.calls.read(id, first)) ?? {};
  return { id, first, second, run, child: { ...run, runId: spec?.runId ?? '' } };
}

it.concurrent(
  'a sub-agent whose workflow is reset to before an answer that it has used goes on',
  async () => {
    const { id, first, second, run, child } = await beginDelegated();
    await runs.decide(child, first, true);
    await untilAsked(run, second);
    await reset(child, false);
    await untilItRests(child);
    await runs.decide(child, second, true);
    await runs.sweepUntil(id, 'the run completes', ({ status }) => status === 'completed');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(executed.filter((call) => call.startsWith(id))).toEqual([first, second]);
  },
);

/** Resets the run to before its sub-agent's start, and waits until the run has found that sub-agent active. */
async function resetAboveChild(run: RunRecord, child: RunRecord): Promise<void> {
  await reset(run, false, (await tasksOf(run))[0]);
  await until('the parent has found it at work', async () => {
    const { events } = await runs.client.workflow
      .getHandle(workflowIdOf(child.runId))
      .fetchHistory();
    return events?.some(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === 'reportEnd',
    );
  });
}

it.concurrent(
  'a run that is reset while its sub-agent asks learns of its end, and all workflows end',
  async () => {
    const { id, first, second, run, child } = await beginDelegated();
    await resetAboveChild(run, child);
    const helper = runs.client.workflow.getHandle(workflowIdOf(child.runId));
    const execution = (await helper.describe()).runId;
    await until('the sub-agent continues as new', async () => {
      await Promise.all(Array.from({ length: 20 }, () => helper.signal('look')));
      return (await helper.describe()).runId !== execution;
    });
    for (const asked of [first, second]) {
      await untilAsked(run, asked);
      await runs.decide(child, asked, true);
    }
    // No sweep and no look helps: the sub-agent itself reports its end, in whichever execution.
    for (const each of [child, run]) {
      expect(await runs.result(each)).toMatchObject({ status: 'completed' });
    }
    expect(executed.filter((call) => call.startsWith(id))).toEqual([first, second]);
    const { events } = await runs.client.workflow.getHandle(workflowIdOf(run.runId)).fetchHistory();
    const isStart = (event: HistoryEvent) =>
      event.startChildWorkflowExecutionInitiatedEventAttributes;
    expect(events?.filter(isStart)).toHaveLength(1);
  },
);

it.concurrent.each(['cancelled', 'stopped'])(
  'a run that was reset and is %s while its sub-agent asks wakes it, and both workflows end',
  async (how) => {
    const { id, run, child } = await beginDelegated();
    await resetAboveChild(run, child);
    if (how === 'stopped') await runs.executor.stop(id, { mode: 'interrupt' });
    else await runs.client.workflow.getHandle(workflowIdOf(run.runId)).cancel();
    for (const each of [run, child]) {
      const workflow = runs.client.workflow.getHandle(workflowIdOf(each.runId));
      await until(
        'it has ended',
        async () => (await workflow.describe()).status.name !== 'RUNNING',
      );
      expect(await runs.result(each)).toMatchObject({ status: 'interrupted' });
    }
  },
);

it.concurrent('a look is harmless at any time', async () => {
  const id = runs.newSessionId();
  const run = await runs.begin(id, 'step', `charge ${id}`);
  const handle = runs.client.workflow.getHandle(workflowIdOf(run.runId));
  await handle.signal('look', { whatever: null });
  await untilAsked(run, `${id}-1`);
  const phase = async (): Promise<string> =>
    (await handle.query<{ phase: string }>('agentState')).phase;
  await until('the run knows that it waits', async () => (await phase()) === 'waiting');
  const before = await stores.store.sessions.read(id);
  for (let times = 0; times < 3; times += 1) await handle.signal('look');
  expect(await phase()).toBe('waiting');
  expect(await stores.store.sessions.read(id)).toEqual(before);
  await runs.decide(run, `${id}-1`, true);
  await handle.signal('look');
  await untilAsked(run, `${id}-2`);
  await runs.decide(run, `${id}-2`, true);
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  await runs.workflows.wake(run.runId);
  expect(executed.filter((call) => call.startsWith(id))).toEqual([`${id}-1`, `${id}-2`]);
});

/** Plays the run to its own question, past a missed deadline and two answers to its sub-agent. */
async function play(agent: string): Promise<{ id: string; run: RunRecord }> {
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent, id);
  for (const asked of [`${id}-below-1`, `${id}-below-2`]) {
    await untilAsked(run, asked);
    const { spec } = (await stores.store.calls.read(id, asked)) ?? {};
    await runs.decide({ ...run, runId: spec?.runId ?? '' }, asked, true);
  }
  await untilAsked(run, `${id}-p`);
  return { id, run };
}

/** Wakes a workflow that missed its sub-agent's end until the run is over. */
async function resultOf(run: RunRecord): Promise<unknown> {
  const looks = setInterval(() => {
    void runs.workflows.wake(run.runId, { ended: true }).catch(() => undefined);
  }, 200);
  try {
    return await runs.result(run);
  } finally {
    clearInterval(looks);
  }
}

const executedOf = (id: string): string[] => executed.filter((call) => call.startsWith(id));

it.concurrent.each(DEEP.map(({ name }) => [name]))(
  'a run that is reset at any event of its history ends as if it had not been: %s',
  async (agent) => {
    const { id, run } = await play(agent);
    const waiting = await tasksOf(run);
    await runs.decide(run, `${id}-p`, true);
    const untouched = await runs.result(run);
    const all = await tasksOf(run);
    const { runId: execution } = await runs.client.workflow
      .getHandle(workflowIdOf(run.runId))
      .describe();
    expect(executedOf(id)).toEqual([`${id}-below-1`, `${id}-below-2`, `${id}-p`]);
    // The shapes take alternate tasks: a task decides the same in both.
    const odd = agent.endsWith('leg') ? 1 : 0;
    // These resets come after the run's end.
    for (const to of all.filter((_, at) => at % 2 === odd)) {
      await reset(run, false, to, execution);
      expect([to, await resultOf(run)]).toEqual([to, untouched]);
    }
    expect(executedOf(id)).toHaveLength(3);
    // These resets come while the run asks; then a person answers or stops it.
    await Promise.all(
      waiting.map(async (_, at) => {
        if (at % 2 !== odd) return;
        const again = await play(agent);
        await reset(again.run, false, (await tasksOf(again.run))[at]);
        const isStopped = at % 4 > 1;
        if (isStopped) await runs.executor.stop(again.id, { mode: 'interrupt' });
        else await runs.decide(again.run, `${again.id}-p`, true);
        await runs.sweepUntil(again.id, 'the run is over', ({ status }) => isTerminal(status));
        const { status } = (await stores.store.sessions.read(again.id)) ?? {};
        expect([at, status]).toEqual([at, isStopped ? 'interrupted' : 'completed']);
        expect(await resultOf(again.run)).toMatchObject({ status });
        expect(executedOf(again.id)).toHaveLength(isStopped ? 2 : 3);
      }),
    );
  },
);
