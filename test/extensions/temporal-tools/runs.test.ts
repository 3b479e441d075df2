import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { Context } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type * as Nexus from 'nexus-rpc';
import { z } from 'zod';
import { createRuleModel } from '../../../agents/index.js';
import { activityTool, nexusTool } from '../../../extensions/temporal-tools/index.js';
import { createWarehouseClerk } from '../../../examples/own-workflow/warehouse.js';
import { createToolWork } from '../../../runs/tool-work.js';
import { toolWorkflowIdOf } from '../../../protocol/ids.js';
import type { ToolWorkCall } from '../../../protocol/temporal.js';
import { sharedTemporalAddress, useRuns } from '../../support/run-harness.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

// The worker package of the SDK depends on this package.
const { operation, OperationError, service, serviceHandler } = createRequire(
  createRequire(import.meta.url).resolve('@temporalio/worker'),
)('nexus-rpc') as typeof Nexus;

const taskQueue = `warehouse-${randomUUID()}`;
const endpoint = `risk-${randomUUID()}`;
const executed: [name: string, input: unknown, call: ToolWorkCall][] = [];

const shipping = {
  kind: 'activity' as const,
  name: 'ShipOrder',
  taskQueue,
  options: { scheduleToCloseTimeout: 60_000, retry: { maximumAttempts: 1 } },
};
const order = z.object({ orderId: z.string() });
const tool = { description: 'Does it.', inputSchema: order, taskQueue };
const tools = [
  activityTool({ ...tool, name: 'ship', activity: 'ShipOrder', requireApproval: true }),
  activityTool({ ...tool, name: 'fail', activity: 'Fail' }),
  activityTool({ ...tool, name: 'hang', activity: 'Hang', startToCloseTimeout: 1_000 }),
  activityTool({ ...tool, name: 'wait', activity: 'Hang' }),
  activityTool({
    ...tool,
    name: 'untaken',
    taskQueue: `${taskQueue}-away`,
    activity: 'Ship',
    timeoutMs: 1_000,
  }),
  activityTool({
    ...tool,
    inputSchema: z.object({ orderId: z.string().transform(() => 5n) }),
    name: 'big',
    activity: 'ShipOrder',
  }),
  fakeTool(
    'both',
    async (input, { temporal }) => {
      const [first, second] = await Promise.allSettled(
        ['ShipOrder', 'Fail'].map(async (name) => temporal?.execute({ ...shipping, name }, input)),
      );
      return [first, String((second as PromiseRejectedResult).reason)];
    },
    { inputSchema: order },
  ),
  nexusTool({
    name: 'refuse',
    description: 'Refuses.',
    inputSchema: order,
    endpoint,
    service: 'Risk',
    operation: 'refuse',
  }),
  nexusTool({
    name: 'rate',
    description: 'Rates.',
    inputSchema: order,
    endpoint,
    service: 'Risk',
    operation: 'rate',
  }),
];
/** Calls the tool that the message names, then says its result. */
const model = createRuleModel(({ userText, results }) =>
  results.length === 0
    ? { calls: [{ tool: userText, args: { orderId: 'o1' } }] }
    : { say: JSON.stringify(results[0]?.output) },
);
const shapes = [undefined, 'leg'] as const;
const agents = shapes.map((activities) =>
  fakeAgent(`owner-${activities ?? 'step'}`, model, { activities, tools }),
);

const clerk = createWarehouseClerk({ taskQueue, endpoint }, model);

const quiet = { warn: () => undefined };
const { runs, stores } = useRuns([...agents, clerk]);
let connection: NativeConnection;
let theirs: Worker;
let ended: Promise<void>;
beforeAll(async () => {
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  const note =
    (name: string, work: (orderId: string) => unknown) =>
    (input: { orderId: string }, call: ToolWorkCall): unknown => {
      executed.push([name, input, call]);
      return work(input.orderId);
    };
  theirs = await Worker.create({
    connection,
    taskQueue,
    shutdownGraceTime: '10ms',
    activities: {
      ShipOrder: note('ship', (orderId) => ({ shipped: orderId })),
      Fail: note('fail', () => {
        throw new Error('out of stock', { cause: new Error('10.0.0.7 closed') });
      }),
      // The activity hangs until its worker stops.
      Hang: note('hang', () => Context.current().cancelled),
    },
    nexusServices: [
      serviceHandler(
        service('Risk', {
          rate: operation<{ orderId: string }, { grade: string }>(),
          refuse: operation<{ orderId: string }, never>(),
        }),
        {
          rate: (_, { orderId }) => Promise.resolve({ grade: `A for ${orderId}` }),
          refuse: () => Promise.reject(new OperationError('failed', 'no such customer')),
        },
      ),
    ],
  });
  ended = theirs.run();
  await connection.operatorService.createNexusEndpoint({
    spec: { name: endpoint, target: { worker: { namespace: 'default', taskQueue } } },
  });
});
afterAll(async () => {
  theirs.shutdown();
  await ended;
  await connection.close();
});

const textOf = async (sessionId: string): Promise<string> =>
  JSON.stringify(await stores.store.sessions.rows(sessionId, 0));
const executionsOf = (runId: string): typeof executed =>
  executed.filter(([, , call]) => call.runId === runId);

/** Has the agent call the tool; returns what was executed and what is stored when the run has completed. */
async function call(agent: string, name: string): Promise<{ done: typeof executed; text: string }> {
  const run = await runs.begin(runs.newSessionId(), agent, name);
  expect(await runs.result(run)).toMatchObject({ status: 'completed' });
  return { done: executionsOf(run.runId), text: await textOf(run.sessionId) };
}

describe.each(agents.map(({ name }) => [name]))('a tool that is an activity: %s', (agent) => {
  it.concurrent(
    'it is executed once, when it is approved, with the checked input and its key',
    async () => {
      const run = await runs.begin(runs.newSessionId(), agent, 'ship');
      await runs.untilStatus(run.sessionId, 'waiting_approval');
      expect(executionsOf(run.runId)).toEqual([]);
      const view = await stores.store.sessions.view(run.sessionId);
      const toolCallId = view?.openCalls[0]?.spec.toolCallId ?? '';
      await runs.decide(run, toolCallId, true);
      const { runId, sessionId } = run;
      expect(await runs.result(run)).toMatchObject({ status: 'completed' });
      const ann = { userId: 'ann', tenantId: 'acme' };
      const call = { runId, sessionId, toolCallId, idempotencyKey: expect.any(String) };
      const people = { requester: ann, approver: ann };
      expect(executionsOf(runId)).toEqual([['ship', { orderId: 'o1' }, { ...call, ...people }]]);
      expect(await textOf(sessionId)).toContain('{"shipped":"o1"}');
    },
  );

  it.concurrent('what it throws is the result, and it is not tried again', async () => {
    const { done, text } = await call(agent, 'fail');
    expect(done).toHaveLength(1);
    expect(text).toContain('"out of stock"');
    expect(text).not.toContain('10.0.0.7');
  });
});

it.concurrent(
  'the example ships by an activity when that is approved, and rates by an operation',
  async () => {
    const shipping = await runs.begin(runs.newSessionId(), clerk.name, 'ship');
    await runs.untilStatus(shipping.sessionId, 'waiting_approval');
    const view = await stores.store.sessions.view(shipping.sessionId);
    await runs.decide(shipping, view?.openCalls[0]?.spec.toolCallId ?? '', true);
    const rating = await runs.begin(runs.newSessionId(), clerk.name, 'rate');
    for (const run of [shipping, rating]) {
      expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    }
    expect(await textOf(shipping.sessionId)).toContain('{"shipped":"o1"}');
    expect(await textOf(rating.sessionId)).toContain('A for o1');
  },
);

const [{ name: agent } = { name: '' }] = agents;

describe('work of a tool that Temporal executes', () => {
  it.concurrent.each([
    [
      'an activity that does not report in time may have had its effect',
      'hang',
      1,
      'outcome_unknown',
    ],
    ['an input that Temporal cannot carry fails immediately', 'big', 0, 'could not be started'],
    ['that no worker took it is known', 'untaken', 0, 'No worker took'],
    ['what a Nexus operation throws is the result', 'refuse', 0, 'no such customer'],
    ['a Nexus operation executes a call', 'rate', 0, 'A for o1'],
  ])('%s', async (_, name, executions, result) => {
    const { done, text } = await call(agent, name);
    expect(done).toHaveLength(executions);
    expect(text).toContain(result);
  });

  const begun = async () => {
    const run = await runs.begin(runs.newSessionId(), agent, 'wait');
    const [, , { toolCallId }] = await until('it is executed', () =>
      Promise.resolve(executionsOf(run.runId)[0]),
    );
    const id = toolWorkflowIdOf(run.runId, toolCallId);
    return { run, handle: runs.client.workflow.getHandle(id) };
  };

  it.concurrent('a stop cancels what it has started', async () => {
    const { run, handle } = await begun();
    await runs.executor.stop(run.sessionId, { mode: 'interrupt', by: 'ann' });
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await runs.untilStatus(run.sessionId, 'interrupted');
  });

  it.concurrent('work that an operator ends may have had its effect', async () => {
    const { run, handle } = await begun();
    await handle.terminate('not mine');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(await textOf(run.sessionId)).toContain('tool_outcome_unknown');
  });

  const input = { orderId: 'o2' };
  const how = () => ({
    signal: new AbortController().signal,
    isHandedOver: () => false,
    isRepeated: false,
    mayBeGone: false,
  });
  const newCall = (): ToolWorkCall => ({
    sessionId: 's',
    runId: `s:1-${randomUUID()}`,
    toolCallId: 'c',
    idempotencyKey: 'k',
  });
  const workOf = (client = runs.client) => createToolWork(client, runs.taskQueue, quiet);

  it.concurrent(
    'an attempt that takes a call over waits for what the lost one has started',
    async () => {
      const call = newCall();
      const ask = (): Promise<unknown> => workOf()({ work: shipping, input, call }, how());
      expect(await Promise.all([ask(), ask()])).toEqual([{ shipped: 'o2' }, { shipped: 'o2' }]);
      expect(await ask()).toEqual({ shipped: 'o2' });
      expect(executionsOf(call.runId)).toHaveLength(1);
    },
  );

  it.concurrent('what may be forgotten by now is not started again', async () => {
    const call = newCall();
    const ask = (mayBeGone: boolean): Promise<unknown> =>
      workOf()({ work: shipping, input, call }, { ...how(), isRepeated: true, mayBeGone });
    await expect(ask(true)).rejects.toMatchObject({ code: 'tool_outcome_unknown' });
    expect(executionsOf(call.runId)).toEqual([]);
    expect(await ask(false)).toEqual({ shipped: 'o2' });
    expect(await ask(true)).toEqual({ shipped: 'o2' });
  });

  it.concurrent.each([
    ['nothing can have started', false, 'tool_execution_failed'],
    ['an earlier attempt may have started it', true, 'tool_outcome_unknown'],
  ])('what Temporal refuses ends immediately: %s', async (_when, isRepeated, code) => {
    const { connection: theirOwn } = runs.client;
    const client = new Client({ connection: theirOwn, namespace: 'not-there' });
    const asking = workOf(client)(
      { work: shipping, input, call: newCall() },
      { ...how(), isRepeated },
    );
    await expect(asking).rejects.toMatchObject({ code });
  });

  it.concurrent('a tool executes one activity', async () => {
    const { done, text } = await call(agent, 'both');
    expect(done.map(([name]) => name)).toEqual(['ship']);
    expect(text).toContain('{"shipped":"o1"}');
    expect(text).toContain('was not started');
  });
});
