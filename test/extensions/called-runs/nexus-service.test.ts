import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { createAgentService } from '../../../extensions/called-runs/nexus-service.js';
import { workflowIdOf } from '../../../protocol/ids.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { createAgentWorker } from '../../../worker/index.js';
import {
  bundlePath,
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../../support/run-harness.js';
import { createTestAgent } from '../../support/test-agent.js';
import { until } from '../../support/until.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';

const endpoint = `agents-${randomUUID()}`;
const { agent } = createTestAgent();
const { agent: paused } = createTestAgent('paused');
let stores: TestStores;
let runs: RunHarness;
let connection: NativeConnection;
let worker: Worker;
let ended: Promise<void>;
beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent, paused]);
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  const { taskQueue } = runs;
  worker = await createAgentWorker({
    connection,
    taskQueue,
    agents: [agent, paused],
    stores,
    sweep: false,
    workflows: { bundlePath },
    extensions: [createAgentService()],
  });
  ended = worker.run();
  await connection.operatorService.createNexusEndpoint({
    spec: {
      name: endpoint,
      target: { worker: { namespace: 'default', taskQueue: `${taskQueue}-service` } },
    },
  });
});
afterAll(async () => {
  worker.shutdown();
  await ended;
  await connection.close();
});

/** Starts a workflow that calls an operation, as a caller in another namespace would. */
const start = (name: string, input?: object): Promise<WorkflowHandle> =>
  runs.client.workflow.start('agentToolWork', {
    workflowId: `caller-${randomUUID()}`,
    taskQueue: runs.taskQueue,
    args: [
      {
        work: {
          kind: 'nexus',
          endpoint,
          service: 'HelixAgents',
          name,
          options: { scheduleToCloseTimeout: 60_000 },
        },
        input,
      },
    ],
  });
const call = async (name: string, input?: object): Promise<unknown> =>
  (await start(name, input)).result();

async function refusal(name: string, input?: object): Promise<unknown> {
  const error: unknown = await call(name, input).catch((failed: unknown) => failed);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  let code: unknown;
  for (let at = error; at instanceof Error; at = at.cause) if ('type' in at) code = at.type;
  return code;
}

const conversation = () => ({ sessionId: runs.newSessionId(), userId: 'ann', tenantId: 'acme' });

/** Fields without a value. */
const nothing = { sessionId: null, userId: null, tenantId: null, metadata: null };

const storedId = ({ sessionId, tenantId }: ReturnType<typeof conversation>): string =>
  toStoredSessionId(sessionId, tenantId);

it.concurrent('runs an agent, and gives its reply from the conversation', async () => {
  const whose = conversation();
  const run = { ...whose, agent: agent.name, message: 'hello' };
  expect(await call('run', run)).toMatchObject({ status: 'completed', steps: 1 });
  expect(await call('result', whose)).toMatchObject({
    kind: 'ended',
    result: { status: 'completed', text: 'You said hello' },
  });
  const stored = { sessionId: storedId(whose), userId: 'ann' };
  expect(await refusal('result', stored)).toBe('not_found');
  const { runId = '' } = (await stores.store.sessions.read(stored.sessionId)) ?? {};
  const described = await runs.client.workflow.getHandle(workflowIdOf(runId)).describe();
  expect(JSON.stringify(described.typedSearchAttributes)).toContain('acme');
  const { executionConfig, workflowExecutionInfo } = described.raw;
  expect(workflowExecutionInfo?.priority).toMatchObject({ fairnessKey: 'acme' });
  expect(Number(executionConfig?.defaultWorkflowTaskTimeout?.seconds)).toBe(5);
});

it.concurrent('waits while the agent is paused', async () => {
  const whose = conversation();
  const pauses = stores.store.pauses.of(`default/${runs.taskQueue}`);
  await pauses.set({ agent: paused.name, everywhere: true, at: Date.now(), by: 'olga' });
  const running = await start('run', { ...whose, agent: paused.name, message: 'hello' });
  const { runId } = await runs.untilStatus(storedId(whose), 'starting');
  await until('it was refused', async () => {
    const { raw } = await running.describe();
    return raw.pendingNexusOperations?.[0]?.lastAttemptFailure?.message;
  });
  const own = runs.client.workflow.getHandle(workflowIdOf(runId));
  await expect(own.describe()).rejects.toThrow(/not found/);
  await pauses.clear({ agent: paused.name, everywhere: true });
  await pauses.drop({ runId, agent: paused.name, tenant: 'acme' });
  expect(await running.result()).toMatchObject({ status: 'completed' });
});

it.concurrent.each([
  ['absent', {}],
  ['null, as other languages send them', { ...nothing, messageId: null, state: null }],
])('a message without a conversation begins one; its fields are %s', async (_, fields) => {
  expect(await call('run', { ...fields, agent: agent.name, message: 'hello' })).toMatchObject({
    status: 'completed',
  });
});

it.concurrent.each([
  ['approve', { approved: true, result: null, error: null, inputHash: null }],
  ['deny', { approved: false, reason: 'too much' }],
])('a call that waits is answered: %s', async (_, decision) => {
  const whose = conversation();
  const toolCallId = `${whose.sessionId}-c`;
  const message = JSON.stringify({ calls: [{ tool: 'charge', id: toolCallId }] });
  const running = await start('run', { ...whose, agent: agent.name, message });
  await runs.untilStatus(storedId(whose), 'waiting_approval');
  expect(await call('result', whose)).toEqual({ kind: 'at_work' });
  expect(await refusal('answer', { ...whose, userId: 'eve', toolCallId, ...decision })).toBe(
    'not_found',
  );
  await call('answer', { ...whose, toolCallId, by: 'bob', ...decision });
  expect(await running.result()).toMatchObject({ status: 'completed' });
  expect(await refusal('answer', { ...whose, toolCallId, ...decision })).toBe('not_pending');
});

it.concurrent('is stopped by `stop`, and by a cancel of its caller', async () => {
  const [first, second] = [conversation(), conversation()];
  const ask = (id: string) => JSON.stringify({ calls: [{ tool: 'charge', id: `${id}-c` }] });
  const running = await Promise.all(
    [first, second].map((whose) =>
      start('run', { ...whose, agent: agent.name, message: ask(whose.sessionId) }),
    ),
  );
  for (const whose of [first, second]) await runs.untilStatus(storedId(whose), 'waiting_approval');
  await call('stop', { ...first, reason: 'enough' });
  await running[1]?.cancel();
  for (const whose of [first, second]) await runs.untilStatus(storedId(whose), 'interrupted');
  for (const run of running) expect(await run.result()).toMatchObject({ status: 'interrupted' });
});

it.concurrent('a run that was begun before is waited for, not begun again', async () => {
  const whose = conversation();
  const run = { ...whose, messageId: 'm1', agent: agent.name, message: 'hello' };
  const [one, two] = await Promise.all([call('run', run), call('run', run)]);
  expect([one, two]).toEqual([one, one]);
  const record = await stores.store.sessions.read(storedId(whose));
  expect(record?.turn).toBe(1);
  const listed = await runs.client.workflow.getHandle(workflowIdOf(record?.runId ?? '')).describe();
  expect(listed.status.name).toBe('COMPLETED');
});

it.concurrent('refuses with a code', async () => {
  const whose = conversation();
  expect(await refusal('run', { ...whose, agent: 'nobody', message: 'hello' })).toBe(
    'agent_not_found',
  );
  expect(await refusal('run', { ...whose, agent: agent.name, message: 7 })).toBe(
    'validation_error',
  );
  expect(await refusal('result', whose)).toBe('not_found');
  expect(await refusal('stop', whose)).toBe('not_found');
});

it.concurrent.each([
  ['run', 'validation_error'],
  ['result', 'not_found'],
  ['answer', 'not_found'],
  ['stop', 'not_found'],
])('refuses %s without an input as %s', async (name, code) => {
  expect(await refusal(name)).toBe(code);
});
