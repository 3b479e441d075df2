import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { parseEnv } from '../../config/env.js';
import { TIMES } from '../../protocol/limits.js';
import { settingsOf } from '../../worker/run-main.js';
import { createToolWorker, runWithSecond } from '../../worker/tool-worker.js';
import {
  limitNewThreads,
  toEagerSlots,
  toSettings,
  toSlots,
} from '../../worker/worker-settings.js';
import { until } from '../support/until.js';

it('a worker process takes its settings from the environment', () => {
  const config = parseEnv({
    TASK_QUEUE: 'q',
    START_WITHIN: '2',
    HELIX_TIMES: '{"leaseMs":9}',
    MODEL_SLOTS: '3',
    CACHED_RUNS: '4',
    TOOL_SLOTS: '5',
    TOOLS_PER_USER: '6',
    FILE_HOSTS: 'files.example',
    TEMPORAL_DEPLOYMENT_NAME: 'agents',
    TEMPORAL_WORKER_BUILD_ID: 'v7',
    METRICS_TENANTS: '1',
    MODEL: 'scripted',
    PUBLIC_URL: 'https://chat.example',
  });
  const { sessionUrl, ...settings } = settingsOf(config);
  expect(settings).toEqual({
    taskQueue: 'q',
    startWithinMs: 2_000,
    times: { ...TIMES, leaseMs: 9 },
    modelSlots: 3,
    cachedRuns: 4,
    toolSlots: { total: 5, perUser: 6 },
    fileHosts: ['files.example'],
    versioning: { deploymentName: 'agents', buildId: 'v7' },
    meterTenants: true,
    modelName: 'scripted',
    publicUrl: 'https://chat.example',
  });
  expect(sessionUrl?.('s', 'r')).toMatch(/^https:\/\/chat.example\/.*r$/);
});

it('slots for models and kept runs are those that the owner sets, and eager calls take a share of them', () => {
  expect(toSlots(7)).toEqual({
    maxConcurrentActivityTaskExecutions: 7,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxConcurrentActivityTaskPolls: 5,
    maxConcurrentWorkflowTaskPolls: 10,
    nonStickyToStickyPollRatio: 0.5,
  });
  expect(toSettings(0)).toEqual({
    maxCachedWorkflows: 0,
    stickyQueueScheduleToStartTimeout: '1s',
    maxHeartbeatThrottleInterval: '2s',
    defaultHeartbeatThrottleInterval: '2s',
    shutdownGraceTime: '30s',
    shutdownForceTime: '35s',
  });
  expect(toEagerSlots({}, { modelSlots: 7 })).toBe(7);
  const own = { maxConcurrentActivityTaskExecutions: 9 };
  expect(toEagerSlots(own, { modelSlots: 7 })).toBeUndefined();
  expect(toEagerSlots({ tuner: {} as never }, { modelSlots: 7 })).toBeUndefined();
  expect(toEagerSlots({}, { modelSlots: 7, versioning: {} })).toBeUndefined();
  const off = { maxEagerActivityReservationsPerWorkflowTask: 0 };
  expect(toEagerSlots(off, { modelSlots: 7 })).toBeUndefined();
});

it('the worker of tools has a queue, activities and slots of its own, and no workflows', async () => {
  const created = jest.spyOn(Worker, 'create').mockResolvedValue({} as Worker);
  const toolCall = (): never => {
    throw new Error('not called');
  };
  const options: WorkerOptions = {
    taskQueue: 'q',
    namespace: 'n',
    workflowBundle: { codePath: 'bundle.js' },
    activities: { modelStep: toolCall },
    plugins: [{ name: 'agents' }],
    tuner: {} as never,
    nexusServices: [],
    maxConcurrentActivityTaskExecutions: 7,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxConcurrentWorkflowTaskPolls: 10,
    shutdownGraceTime: '30s',
  };
  await createToolWorker(options, toolCall, 4);
  expect(created.mock.calls).toEqual([
    [
      {
        taskQueue: 'q-tools',
        namespace: 'n',
        activities: { toolCall },
        // Five calls a slot: those of users who have used up their share wait in the process.
        maxConcurrentActivityTaskExecutions: 20,
        maxHeartbeatThrottleInterval: '4s',
        defaultHeartbeatThrottleInterval: '4s',
        shutdownGraceTime: '30s',
      },
    ],
  ]);
});

describe('two workers beside each other', () => {
  function fakeWorker() {
    let state = 'INITIALIZED';
    let end: (error?: Error) => void = () => undefined;
    const ended = new Promise<void>((resolve, reject) => {
      end = (error) => {
        state = 'STOPPED';
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    const run = (): Promise<void> => {
      state = 'RUNNING';
      return ended;
    };
    const shutdown = (): void => {
      if (state !== 'RUNNING') throw new Error('Not running');
      end();
    };
    return { run, end, shutdown, getState: () => state } as Worker & { end: typeof end };
  }
  const fault = new Error('the second one failed');

  /** Runs a worker as plugins of its owner may, after other work. */
  async function runLate(worker: Worker): Promise<void> {
    await new Promise(setImmediate);
    await worker.run();
  }

  async function startBoth() {
    const [main, beside] = [fakeWorker(), fakeWorker()];
    const running = runWithSecond(
      main,
      () => Promise.resolve(beside),
      () => runLate(main),
    );
    await until('both run', () => beside.getState() === 'RUNNING');
    return { main, beside, running };
  }

  it('end together when the first one is asked to stop', async () => {
    const { main, beside, running } = await startBoth();
    main.shutdown();
    await running;
    expect(beside.getState()).toBe('STOPPED');
  });

  it('end together when the second one fails, also at its start', async () => {
    const { main, beside, running } = await startBoth();
    beside.end(fault);
    await expect(running).rejects.toBe(fault);
    expect(main.getState()).toBe('STOPPED');
    const alone = fakeWorker();
    await expect(
      runWithSecond(
        alone,
        () => Promise.reject(fault),
        () => runLate(alone),
      ),
    ).rejects.toBe(fault);
    expect(alone.getState()).toBe('STOPPED');
  });

  it('end together when the first one fails before it runs', async () => {
    const [main, beside] = [fakeWorker(), fakeWorker()];
    const running = runWithSecond(
      main,
      () => Promise.resolve(beside),
      () => Promise.reject(fault),
    );
    await expect(running).rejects.toBe(fault);
    expect(beside.getState()).toBe('STOPPED');
  });
});

it('a thread that starts later keeps little for new objects', async () => {
  const fill = `
    const { getHeapSpaceStatistics } = require('node:v8');
    let kept = [];
    let most = 0;
    for (let n = 0; n < 3_000_000; n += 1) {
      kept.push({ n: [n] });
      if (kept.length > 200_000) kept = [];
      if (n % 100_000 === 0) {
        const [space] = getHeapSpaceStatistics().filter((each) => each.space_name === 'new_space');
        most = Math.max(most, space.space_size);
      }
    }
    require('node:worker_threads').parentPort.postMessage(most);
  `;
  limitNewThreads();
  const thread = new Thread(fill, { eval: true });
  const [bytes] = (await once(thread, 'message')) as [number];
  await thread.terminate();
  expect(bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
});
