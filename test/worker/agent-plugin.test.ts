import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter, type MetricMeter } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { NOT_HELD } from '../../activities/lease.js';
import { z } from 'zod';
import { createRuleModel, defineAgent, defineTool } from '../../agents/index.js';
import type { Extension } from '../../extension.js';
import { waitWorkflowIdOf } from '../../protocol/ids.js';
import { TIMES } from '../../protocol/limits.js';
import { toCachedRuns } from '../../worker/worker-settings.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import {
  bundlePath,
  createRunHarness,
  QUIET,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { drive } from '../support/session-driver.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { leases } from '../../extensions/leases/index.js';
import { notices } from '../../extensions/notify/index.js';
import { createAgentPlugin } from '../../extensions/worker.js';

/** The test needs its own Redis, because sweeps touch every session that they find. */
let redis: RedisServer;
let stores: TestStores;
let connection: NativeConnection;
const { agent } = createTestAgent();
/** Creates a harness with a task queue for the workers of one test. */
const newRuns = (): Promise<RunHarness> => createRunHarness(stores, [agent]);
const workflowBundle = { codePath: bundlePath };
const workflowsPath = fileURLToPath(new URL('./own-workflows.ts', import.meta.url));

beforeAll(async () => {
  redis = await startRedis();
  stores = await openTestStores('worker', redis.url);
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
});

afterAll(async () => {
  await connection.close();
  await redis.close();
});

describe('runs that a process keeps in memory', () => {
  it.each([
    { heap: 4_300_000_000, kept: 500 },
    { heap: 300_000_000, kept: 150 },
    { heap: 10_000_000, kept: 10 },
  ])('a heap limit of $heap bytes keeps $kept runs', ({ heap, kept }) => {
    expect(toCachedRuns(heap)).toBe(kept);
  });

  it.concurrent(
    'the owner chooses how many runs and slots there are, and with which meter runs are counted',
    async () => {
      const runs = await newRuns();
      const counted: string[] = [];
      const make = (name: string) => ({
        add: (n: number) => n > 0 && counted.push(name),
        record: () => undefined,
        set: () => undefined,
      });
      const meter = { createCounter: make, createHistogram: make, createGauge: make };
      const worker = await Worker.create({
        connection,
        taskQueue: runs.taskQueue,
        workflowBundle,
        plugins: [
          createAgentPlugin({
            agents: [agent],
            stores,
            sweep: false,
            cachedRuns: 0,
            modelSlots: 7,
            meter: meter as unknown as MetricMeter,
          }),
        ],
      });
      expect(worker.options).toMatchObject({
        maxCachedWorkflows: 0,
        tuner: { activityTaskSlotSupplier: { numSlots: 7 } },
      });
      await worker.runUntil(async () => {
        const run = await runs.begin(runs.newSessionId(), agent.name, 'hello');
        expect(await runs.result(run)).toMatchObject({ status: 'completed' });
      });
      expect(counted).toContain('helix_runs_ended');
    },
  );
});

it.concurrent(
  'leases and extensions begin with the worker and end behind it, as do sources of tools',
  async () => {
    const seen: string[] = [];
    const sourced = defineAgent({
      name: 'sourced',
      systemPrompt: 'Be brief.',
      llmConfig: {
        model: createRuleModel(({ results }) =>
          results.length > 0 ? { say: 'hello' } : { calls: [{ tool: 'look', args: {} }] },
        ),
      },
      tools: [
        defineTool({
          name: 'look',
          description: 'Looks.',
          inputSchema: z.object({}),
          execute: (_, { services }) => seen.push(`a tool sees ${String(services['sight'])}`),
        }),
      ],
      toolSources: [
        {
          name: 'server',
          list: (_taken, host) => {
            host.onClose(() => Promise.resolve(seen.push('the source is closed')));
            return Promise.resolve({});
          },
          toTools: () => [],
          owns: () => false,
        },
      ],
    });
    const runs = await createRunHarness(stores, [sourced]);
    const own: Extension = {
      name: 'own',
      liveness: () => ({
        lease: {
          hold: () => NOT_HELD,
          onStop: () => () => undefined,
          isHeld: () => true,
          start: () => void seen.push('the lease starts'),
          close: () => Promise.resolve(void seen.push('the lease ends')),
        },
        judge: (signal) => untilAborted(signal, () => seen.push('the judge ends')),
        countWith: () => void seen.push('the lease is counted'),
      }),
      worker: () => ({
        activities: { own: () => Promise.resolve() },
        whileItRuns: (signal) => untilAborted(signal, () => seen.push('its work ends')),
        close: () => void seen.push('it is closed'),
      }),
    };
    const away = () => Promise.reject(new Error('away'));
    const parts = { whileItRuns: away, close: away };
    const failing: Extension = { name: 'failing', worker: () => parts };
    const worker = await Worker.create({
      connection,
      taskQueue: runs.taskQueue,
      workflowBundle,
      plugins: [
        createAgentPlugin({
          agents: [sourced],
          stores,
          services: { sight: 'a tree' },
          sweep: false,
          extensions: [own, failing],
          logger: { info: () => undefined, warn: (_, text) => void seen.push(text) },
        }),
      ],
    });
    expect(worker.options.activities.has('own')).toBe(true);
    await worker.runUntil(async () => {
      const run = await runs.begin(runs.newSessionId(), sourced.name, 'hello');
      expect(await runs.result(run)).toMatchObject({ status: 'completed' });
      seen.push('a run has ended');
    });
    expect(seen).toEqual([
      'the lease is counted',
      'the lease starts',
      'the worker runs without this',
      'a tool sees a tree',
      'a run has ended',
      'the judge ends',
      'its work ends',
      'the lease ends',
      'it is closed',
      'the source is closed',
    ]);
  },
);

function untilAborted(signal: AbortSignal, then: () => void): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      then();
      resolve();
    });
  });
}

describe('the plugin', () => {
  it.concurrent("the plugin serves agents beside the worker's own workflows", async () => {
    const runs = await newRuns();
    const worker = await Worker.create({
      connection,
      taskQueue: runs.taskQueue,
      workflowsPath,
      activities: { shout: (word: string) => Promise.resolve(word.toUpperCase()) },
      shutdownForceTime: '40s',
      plugins: [createAgentPlugin({ agents: [agent], stores, sweep: false })],
    });
    expect(worker.options).toMatchObject({
      stickyQueueScheduleToStartTimeout: '1s',
      shutdownGraceTime: '30s',
      shutdownForceTime: '40s',
      maxCachedWorkflows: toCachedRuns(),
    });
    await worker.runUntil(async () => {
      const run = await runs.begin(runs.newSessionId(), agent.name, 'hello');
      expect(await runs.result(run)).toMatchObject({ status: 'completed' });
      const greeting: unknown = await runs.client.workflow.execute('greet', {
        workflowId: `greet-${runs.taskQueue}`,
        taskQueue: runs.taskQueue,
        args: ['ann'],
      });
      expect(greeting).toBe('HELLO ANN');
    });
  });

  it.concurrent('the plugin sweeps as long as the worker runs, and no longer', async () => {
    const runs = await newRuns();
    let sweeps = 0;
    const sweep = (): Promise<void> => Promise.resolve(void (sweeps += 1));
    const extensions = [{ name: 'own', worker: () => ({ sweeps: [sweep] }) }];
    const worker = await Worker.create({
      connection,
      taskQueue: runs.taskQueue,
      workflowBundle,
      plugins: [createAgentPlugin({ agents: [agent], stores, extensions })],
    });
    await worker.runUntil(async () => {
      await until('the extension sweeps', () => sweeps > 0);
      const lost = drive(stores);
      await runs.due.note(lost.id, 0);
      await lost.begin({ agent: agent.name });
      await runs.untilStatus(lost.id, 'completed');
    });
    const swept = sweeps;
    // No worker holds a lease any more, so the next caller gets it after the expiry.
    await until('the lease is free', () => runs.due.lease(0, 'test', 60_000));
    expect(await runs.due.lease(0, 'another', 1)).toBe(false);
    expect(sweeps).toBe(swept);
  });

  it('the plugin refuses a worker without a connection, and one with an activity of the same name', async () => {
    const plugin = createAgentPlugin({ agents: [agent], stores });
    await expect(Worker.create({ taskQueue: 'q', plugins: [plugin] })).rejects.toThrow(
      /needs? a worker with a connection/,
    );
    await expect(
      Worker.create({
        connection,
        taskQueue: 'q',
        activities: { modelStep: () => Promise.resolve() },
        plugins: [plugin],
      }),
    ).rejects.toThrow(/already has an activity "modelStep"/);
  });
});

it('the plugin begins no lease for a worker that could not be created', async () => {
  const extensions = [leases({ id: 'none' })];
  const plugin = createAgentPlugin({ agents: [agent], stores, extensions });
  const unknown = { taskQueue: 'none', workflowsPath: 'test-no-such-file.ts' };
  const made = Worker.create({ connection, ...unknown, plugins: [plugin] });
  await expect(made).rejects.toThrow();
  const holders = await stores.store.leases?.of('default').holders();
  expect(holders?.filter((each) => each.startsWith('none'))).toEqual([]);
});

/** Workers' log lines of level info. */
const lines: { deploymentName: string }[] = [];

const IN_AN_HOUR = Date.now() + 60 * 60_000;

describe('versioning', () => {
  const stops: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));

  /** Starts a worker whose deployment is named as its task queue. */
  async function startVersion(
    buildId: string,
    deploymentName: string,
    from?: string,
    current = buildId,
  ) {
    const worker = await Worker.create({
      connection,
      taskQueue: deploymentName,
      workflowBundle,
      plugins: [
        createAgentPlugin({
          agents: [agent],
          stores,
          sweep: false,
          times: { ...TIMES, lookAgainMs: 500 },
          extensions: [notices({ receivers: [QUIET] })],
          versioning: {
            deploymentName,
            buildId,
            makeCurrent: from === undefined ? true : { from },
          },
          logger: {
            warn: () => undefined,
            info: (fields) => {
              lines.push({ ...fields, deploymentName });
            },
          },
        }),
      ],
    });
    const running = worker.run();
    const stop = async (): Promise<void> => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    };
    stops.push(stop);
    await until(`${current} is current`, async () => {
      const { workerDeploymentInfo } = await connection.workflowService
        .describeWorkerDeployment({ namespace: 'default', deploymentName })
        .catch(() => ({ workerDeploymentInfo: undefined }));
      const found = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion;
      return found?.buildId === current;
    });
    return stop;
  }

  const versionOf = async (runs: RunHarness, runId: string): Promise<unknown> => {
    const { raw } = await runs.client.workflow.getHandle(`run:${runId}`).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  };

  it.concurrent(
    'a run that waits moves to the new version, whose workers finish it and its notices, and new runs start there',
    async () => {
      const notify = { calls: ['approval' as const], ends: [] };
      const runs = await createRunHarness(stores, [agent], undefined, undefined, notify);
      const deployment = runs.taskQueue;
      const stopOld = await startVersion('v1', deployment);
      const id = runs.newSessionId();
      const call = `${id}-c`;
      const ask = JSON.stringify({ calls: [{ tool: 'charge', id: call }] });
      const waiting = await runs.begin(id, agent.name, ask);
      await runs.untilStatus(id, 'waiting_approval');
      const later = await runs.begin(runs.newSessionId(), agent.name, 'hello', IN_AN_HOUR);
      await until('both have begun', async () => (await versionOf(runs, later.runId)) === 'v1');
      await startVersion('v2', deployment, 'v1');
      await until('both have moved', async () => {
        const versions = await Promise.all(
          [waiting, later].map(({ runId }) => versionOf(runs, runId)),
        );
        return versions.every((version) => version === 'v2');
      });
      // Only then does the task queue certainly know of the current version.
      const fresh = await runs.begin(runs.newSessionId(), agent.name, 'hello');
      expect(await runs.result(fresh)).toMatchObject({ status: 'completed' });
      await stopOld();
      const inputOf = async ({ runId }: { runId: string }): Promise<object> => {
        const { events } = await runs.client.workflow.getHandle(`run:${runId}`).fetchHistory();
        const { input } = events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
        return defaultPayloadConverter.fromPayload(input?.payloads?.[0] ?? {});
      };
      // The run keeps its start time.
      expect(await inputOf(later)).toMatchObject({ startAt: IN_AN_HOUR });
      // Operators see the waiting run's usage.
      const spent = { tokens: expect.any(Number) as unknown };
      expect(await inputOf(waiting)).toMatchObject({ from: { step: 1, spent } });
      await runs.executor.stop(later.sessionId, { mode: 'abort' });
      await runs.decide(waiting, call, true);
      expect(await runs.result(waiting)).toMatchObject({ status: 'completed' });
      await runs.client.workflow.getHandle(waitWorkflowIdOf(waiting.runId, 1, 1)).result();
      expect([await versionOf(runs, waiting.runId), await versionOf(runs, fresh.runId)]).toEqual([
        'v2',
        'v2',
      ]);
    },
  );

  it.concurrent('an old version that is started again does not take new runs back', async () => {
    const runs = await newRuns();
    const deployment = runs.taskQueue;
    let stopOld = await startVersion('v1', deployment);
    await startVersion('v2', deployment, 'v1');
    for (const from of [undefined, 'v0']) {
      await stopOld();
      lines.length = 0;
      stopOld = await startVersion('v1', deployment, from, 'v2');
      const line = { current: 'v2', buildId: 'v1', deploymentName: deployment };
      const own = () => lines.filter(({ deploymentName }) => deploymentName === deployment);
      await until('it has looked', () => own().length > 0);
      expect(own()).toEqual([line]);
    }
    const fresh = await runs.begin(runs.newSessionId(), agent.name, 'hello');
    expect(await runs.result(fresh)).toMatchObject({ status: 'completed' });
    expect(await versionOf(runs, fresh.runId)).toBe('v2');
  });
});
