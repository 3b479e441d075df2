import { randomBytes, randomUUID } from 'node:crypto';
import { APICallError } from '@ai-sdk/provider';
import { MockLanguageModelV4 } from 'ai/test';
import {
  ApplicationFailure,
  CancelledFailure,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import { Client, Connection, ServiceError } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { OperationError, operation, service, serviceHandler } from 'nexus-rpc';
import { z } from 'zod';
import {
  AgentRegistry,
  createRuleModel,
  defineAgent,
  type AgentDefinition,
} from '../../agents/index.js';
import { createAgentExecutor } from '../../runs/index.js';
import { codec as codecOf, createPayloadCodec } from '../../extensions/codec/index.js';
import { createDeliveries } from '../../extensions/notify/deliveries.js';
import { notices } from '../../extensions/notify/index.js';
import { toNotifySettings, type Receiver } from '../../extensions/notify/settings.js';
import { activityTool, nexusTool } from '../../extensions/temporal-tools/index.js';
import { toolWorkflowIdOf, workflowIdOf } from '../../protocol/ids.js';
import { SEALED_FAILURE } from '../../protocol/temporal.js';
import { createAgentWorker } from '../../worker/create-worker.js';
import { createAgentPlugin } from '../../worker/index.js';
import { toSealedFailure } from '../../worker/seal.js';
import { startReceiver } from '../support/notice-receiver.js';
import { bundlePath, QUIET, sharedTemporalAddress } from '../support/run-harness.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { fakeAgent } from '../support/fake-agent.js';

const CANARY = 'the canary sings';
const afterwards: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const undo of afterwards.reverse()) await undo();
});

it('a sealed failure keeps what decides about another attempt, and no text', () => {
  const failure = ApplicationFailure.create({
    message: CANARY,
    type: 'later',
    nonRetryable: true,
    nextRetryDelay: 500,
    details: [1],
    cause: new Error(CANARY),
  });
  const sealed = toSealedFailure(failure) as ApplicationFailure;
  expect(sealed).toMatchObject({ type: 'later', nonRetryable: true, nextRetryDelay: 500 });
  expect(sealed.details).toEqual([1, { message: CANARY, stack: expect.any(String) }]);
  expect([sealed.message, sealed.stack, sealed.cause]).toEqual([SEALED_FAILURE, '', undefined]);
  expect(toSealedFailure(new TypeError(CANARY))).toMatchObject({ type: 'TypeError' });
  const cancelled = new CancelledFailure('gone');
  expect(toSealedFailure(cancelled)).toBe(cancelled);
});

it.concurrent.each([
  ['default', undefined],
  ['leg', 'leg'],
] as const)(
  'with a codec no text of a failure is in a history, in the shape %s',
  async (_shape, activities) => {
    const address = sharedTemporalAddress();
    const stores = await openTestStores();
    const taskQueue = `test-${randomBytes(6).toString('hex')}`;
    const codec = createPayloadCodec([{ id: 'k', key: randomBytes(32) }]);
    const dataConverter = { payloadCodecs: [codec] };
    const agent = defineAgent({
      name: 'sad',
      systemPrompt: CANARY,
      activities,
      llmConfig: {
        model: new MockLanguageModelV4({
          doStream: () => {
            throw new APICallError({
              message: CANARY,
              url: 'http://model',
              statusCode: 400,
              requestBodyValues: {},
              isRetryable: false,
              responseBody: CANARY,
            });
          },
        }),
      },
    });
    // The first two look-ups fail like code with a message of its author.
    let faults = 2;
    const faulty = new AgentRegistry();
    faulty.registerFactory('sad', (): AgentDefinition => {
      faults -= 1;
      if (faults >= 0) throw new Error(CANARY);
      return agent;
    });
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    afterwards.push(
      () => connection.close(),
      () => native.close(),
    );
    const executor = await createAgentExecutor({
      connection,
      taskQueue,
      dataConverter,
      stores,
      agents: [agent],
    });
    const worker = await createAgentWorker({
      connection: native,
      taskQueue,
      dataConverter,
      stores,
      agents: faulty,
      sweep: false,
      // A user's own interceptor, which fails with its own message.
      interceptors: {
        activity: [
          () => ({
            inbound: {
              execute: async (given, next) => {
                try {
                  return await next(given);
                } catch {
                  throw new Error(CANARY);
                }
              },
            },
          }),
        ],
      },
      workflows: { bundlePath },
    });
    const running = worker.run();
    afterwards.push(async () => {
      worker.shutdown();
      await running;
    });
    const handle = await executor.execute('sad', CANARY);
    await expect(handle.result()).resolves.toMatchObject({ status: 'failed' });
    const client = new Client({ connection, dataConverter });
    const workflow = client.workflow.getHandle(workflowIdOf(handle.runId));
    await expect(workflow.result()).rejects.toThrow();
    const { events } = await workflow.fetchHistory();
    const texts = textsOf(events).join('\n');
    expect(texts).toContain('binary/encrypted');
    expect(texts).not.toContain(CANARY);
    expect(texts).not.toContain('model provider');
    const failed = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
    expect(failed?.message).toBe(SEALED_FAILURE);
    const [sealed] = await codec.decode(failed?.applicationFailureInfo?.details?.payloads ?? []);
    expect(Buffer.from(sealed?.data ?? []).toString()).toContain('The model provider');
    const lost = (events ?? []).flatMap(
      ({ activityTaskStartedEventAttributes: started }) => started?.lastFailure?.message ?? [],
    );
    expect(new Set(lost)).toEqual(new Set([SEALED_FAILURE]));
  },
);

describe('what fails on a worker with a codec', () => {
  const name = `sealed-${randomUUID()}`;
  const inputSchema = z.object({});
  const work = { description: 'Fails.', inputSchema };
  const theirs = { ...work, endpoint: name, service: 'Risk' };
  const agent = fakeAgent(
    'clerk',
    createRuleModel(({ userText, results: [result] }) =>
      result === undefined
        ? { calls: [{ tool: userText, args: {} }] }
        : { say: JSON.stringify(result.output) },
    ),
    {
      tools: [
        activityTool({ ...work, name: 'ship', activity: 'Ship', taskQueue: name }),
        nexusTool({ ...theirs, name: 'rate', operation: 'rate' }),
        nexusTool({ ...theirs, name: 'wrap', operation: 'wrap' }),
        nexusTool({ ...theirs, name: 'again', operation: 'again', timeoutMs: 10_000 }),
        nexusTool({ ...theirs, name: 'gone', operation: 'gone', timeoutMs: 10_000 }),
        nexusTool({ ...theirs, name: 'crash', operation: 'crash', timeoutMs: 60_000 }),
      ],
    },
  );
  const extensions = [codecOf([{ id: 'k', key: randomBytes(32) }])];
  let client: Client;
  let executor: Awaited<ReturnType<typeof createAgentExecutor>>;
  let receivers: Receiver[];
  beforeAll(async () => {
    const address = sharedTemporalAddress();
    const stores = await openTestStores();
    const broken = await startReceiver();
    broken.answer = () => ({ status: 410 });
    receivers = [{ ...QUIET, name: 'broken', url: broken.url, privateNetwork: true } as Receiver];
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    afterwards.push(
      broken.close,
      () => connection.close(),
      () => native.close(),
    );
    const { payloadCodec } = extensions[0] ?? {};
    const payloadCodecs = payloadCodec === undefined ? [] : [payloadCodec];
    client = new Client({ connection, dataConverter: { payloadCodecs } });
    executor = await createAgentExecutor({
      connection,
      taskQueue: name,
      stores,
      extensions,
      agents: [agent],
    });
    const anything = operation<object, object>();
    const refusal = new OperationError('failed', CANARY);
    const risk = {
      rate: anything,
      wrap: anything,
      again: anything,
      gone: anything,
      crash: anything,
    };
    const worker = await Worker.create({
      connection: native,
      taskQueue: name,
      activities: { Ship: () => Promise.reject(new Error(CANARY)) },
      nexusServices: [
        serviceHandler(service('Risk', risk), {
          rate: () => Promise.reject(refusal),
          wrap: () =>
            Promise.reject(
              new OperationError('failed', CANARY, { cause: new Error('of nobody else') }),
            ),
          again: () =>
            Promise.reject(new WorkflowExecutionAlreadyStartedError('Begun.', 'w', 'Rate')),
          gone: () => {
            const cause = Object.assign(new Error('Gone.'), { code: 5, details: '', metadata: {} });
            return Promise.reject(new ServiceError('Gone.', { cause }));
          },
          crash: () => Promise.reject(new Error(CANARY)),
        }),
      ],
      plugins: [
        createAgentPlugin({
          agents: [agent],
          stores,
          sweep: false,
          extensions: [...extensions, notices({ receivers })],
          workflows: { bundlePath },
        }),
      ],
    });
    const running = worker.run();
    afterwards.push(async () => {
      worker.shutdown();
      await running;
    });
    const target = { worker: { namespace: 'default', taskQueue: name } };
    await native.operatorService.createNexusEndpoint({ spec: { name, target } });
  });

  it.concurrent.each(['ship', 'rate', 'wrap'])(
    'tells the model why, each time, and no history: %s',
    async (tool) => {
      await (await executor.execute('clerk', tool)).result();
      const handle = await executor.execute('clerk', tool);
      expect(await handle.result()).toMatchObject({ text: JSON.stringify(CANARY) });
      const workflowId = toolWorkflowIdOf(handle.runId, `${tool}-0-0`);
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const texts = textsOf(events).join('\n');
      expect(texts).toContain(SEALED_FAILURE);
      expect(texts).not.toContain(CANARY);
    },
  );

  it.concurrent.each(['again', 'gone'])(
    'is tried no more often than without it: %s',
    async (tool) => {
      const handle = await executor.execute('clerk', tool);
      await handle.result();
      const workflowId = toolWorkflowIdOf(handle.runId, `${tool}-0-0`);
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const ends = (events ?? []).flatMap(
        (event) => event.nexusOperationFailedEventAttributes ?? [],
      );
      expect(ends).toHaveLength(1);
    },
  );

  it.concurrent('shows nobody why an operation is tried again', async () => {
    const handle = await executor.execute('clerk', 'crash');
    const workflow = client.workflow.getHandle(toolWorkflowIdOf(handle.runId, 'crash-0-0'));
    const tried = await until('the operation is tried again', async () => {
      const described = await workflow.describe().catch(() => undefined);
      return described?.raw.pendingNexusOperations?.[0]?.lastAttemptFailure ?? undefined;
    });
    expect(textsOf(tried).join('\n')).toContain(SEALED_FAILURE);
    expect(textsOf(tried).join('\n')).not.toContain(CANARY);
    await handle.abort();
  });

  it.concurrent('tells an operator why a test notice was not delivered', async () => {
    const deliveries = createDeliveries(
      { client, taskQueue: name },
      toNotifySettings({ receivers }),
    );
    const problem = 'The receiver answered 410.';
    expect(await deliveries.test('broken', undefined)).toEqual({ status: 'failed', problem });
  });
});

/** Returns all text of a workflow's stored data: strings, and bytes as text. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('latin1')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
