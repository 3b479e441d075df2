import { plant } from './stored-record.js';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import { createTemporalRuns } from '../../runs/temporal-runs.js';
import { untilCallsEnd } from '../../runs/temporal-calls.js';
import type { Deliveries } from '../../runs/deliveries.js';
import { createSweep } from '../../runs/sweep.js';
import type { Runs } from '../../runs/runs.js';
import { formatApprovalId, workflowIdOf } from '../../protocol/ids.js';
import { isTerminal, type RunNotices, type RunStatus } from '../../protocol/run.js';
import { TIMES, type Times } from '../../protocol/limits.js';
import type { Receiver } from '../../extensions/notify/settings.js';
import { dueShardOf, type Due } from '../../store/contract/due.js';
import type { RunRecord } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { createAgentWorker } from '../../worker/create-worker.js';
import { newSessionId, userMessage } from './session-driver.js';
import { createTestStores, lateBound, type TestStores } from './test-stores.js';
import { until } from './until.js';
import { calledRuns } from '../../extensions/called-runs/index.js';
import { leases, type BegunLease } from '../../extensions/leases/index.js';
import { notices } from '../../extensions/notify/index.js';

export function sharedTemporalAddress(): string {
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (address === undefined) throw new Error('TEST_TEMPORAL_ADDRESS is not set: use npm test');
  return address;
}

/** A receiver that wants only events that no test triggers, of either kind of question. */
export const QUIET: Receiver = {
  name: 'hook',
  kind: 'webhook',
  url: 'https://127.0.0.1:9',
  secrets: [`whsec_${'a'.repeat(32)}`],
  events: ['approval.expired', 'tool.expired'],
  escalation: false,
  privateNetwork: false,
};

const quiet = { info: () => undefined, warn: () => undefined };

interface WorkerOptions {
  lease?: BegunLease;
  /** Receivers that get its notices. */
  receivers?: Receiver[] | undefined;
  times?: Times;
  modelSlots?: number;
}

export interface RunHarness {
  client: Client;
  executor: Runs;
  workflows: RunWorkflows;
  taskQueue: string;
  startWorker: (options?: WorkerOptions) => Promise<{ stop: () => Promise<void> }>;
  /** Sweeps once, with this session due and, if active, silent. */
  sweep: (sessionId: string) => Promise<void>;
  /**
   * Sweeps until a condition holds, at the sweeper's pace: a signal in each workflow task could
   * keep the workflow from ending.
   */
  sweepUntil: <T>(
    sessionId: string,
    what: string,
    done: (record: SessionRecord) => T | undefined | false,
    withinMs?: number,
  ) => Promise<T>;
  /** Sweeps once over the sessions that are due. */
  sweepDue: () => Promise<void>;
  due: Due;
  begin: (sessionId: string, agent: string, text: string, startAt?: number) => Promise<RunRecord>;
  newSessionId: () => string;
  decide: (run: RunRecord, toolCallId: string, approved: boolean) => Promise<string>;
  untilStatus: (sessionId: string, ...statuses: RunStatus[]) => Promise<SessionRecord>;
  /** Returns the result of the run's workflow, or the type of its failure. */
  result: (run: RunRecord) => Promise<unknown>;
}

/** Path of the workflow bundle that the build makes and workers load. */
export const bundlePath = fileURLToPath(new URL('../../dist/workflows/bundle.js', import.meta.url));

/** What all files of a process share: starting a worker costs most of a second of CPU. */
interface Shared {
  stores: TestStores;
  taskQueue: string;
  /** Agents of the file that runs. */
  agents: AgentRegistry;
}
let shared: Promise<Shared> | undefined;

async function startShared(): Promise<Shared> {
  installRuntime();
  const [stores, taskQueue, agents] = [createTestStores(), newTaskQueue(), new AgentRegistry()];
  // Later files of the process may block its main thread for longer than a worker may.
  const times = { ...TIMES, unresponsiveMs: 10 * 60_000 };
  const { stop } = await startWorkerOf({ stores, taskQueue, agents, times });
  atEndOfRun(async () => {
    await stop();
    stores.redis.disconnect();
    await stores.close();
  });
  return { stores, taskQueue, agents };
}

/** Provides a harness, its stores and a worker that other files use, too. */
export function useRuns(agents: AgentDefinition[]): { runs: RunHarness; stores: TestStores } {
  let stores: TestStores | undefined;
  let runs: RunHarness | undefined;
  beforeAll(async () => {
    shared ??= startShared();
    const served = await shared;
    ({ stores } = served);
    served.agents.clear();
    for (const agent of agents) served.agents.register(agent);
    runs = await createRunHarness(stores, agents, sharedTemporalAddress(), served.taskQueue);
  });
  return { runs: lateBound(() => runs), stores: lateBound(() => stores) };
}

function installRuntime(): void {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
  } catch {
    // An earlier test of this process has installed the runtime.
  }
}

const newTaskQueue = (): string => `test-${randomBytes(6).toString('hex')}`;

async function startWorkerOf({
  stores,
  taskQueue,
  agents,
  address = sharedTemporalAddress(),
  lease,
  receivers,
  times = TIMES,
  ...slots
}: WorkerOptions & {
  stores: TestStores;
  taskQueue: string;
  agents: AgentRegistry;
  address?: string;
}): Promise<{ stop: () => Promise<void> }> {
  const native = await NativeConnection.connect({ address });
  const worker: Worker = await createAgentWorker({
    connection: native,
    namespace: 'default',
    taskQueue,
    agents,
    stores,
    times,
    ...slots,
    extensions: [calledRuns(), leases(lease), notices(receivers && { receivers })],
    // Tests sweep by hand.
    sweep: false,
    workflows: { bundlePath },
  });
  const running = worker.run();
  let stopped: Promise<void> | undefined;
  return {
    stop: () =>
      (stopped ??= (async () => {
        worker.shutdown();
        await running;
        await native.close();
      })()),
  };
}

/** Creates executor, sweep and workers on a real Temporal; by default on a new task queue. */
export async function createRunHarness(
  stores: TestStores,
  agents: AgentDefinition[],
  address = sharedTemporalAddress(),
  taskQueue = newTaskQueue(),
  /** Notices that workflows start; no receiver gets them. */
  notify?: RunNotices,
): Promise<RunHarness> {
  installRuntime();
  const connection = Connection.lazy({ address });
  atEndOfFile(async () => {
    await untilCallsEnd(connection);
    await connection.close();
  });
  const client = new Client({ connection });
  const { store, streamManager } = stores;
  const registry = new AgentRegistry(agents);
  const { runs: executor, workflows } = await createTemporalRuns(client, taskQueue, {
    store,
    streamManager,
    agents: registry,
    modelName: 'fake:1',
    sessionUrl: (sessionId) => `http://page/${sessionId}`,
    ...(notify !== undefined && {
      extensions: [{ name: 'receivers', deliveries: () => ({ notify }) as Deliveries }],
    }),
    // Tests share their users.
    logger: quiet,
  });

  const due = store.due.of(workflows.fleet);
  const sweepWith = (take: Due['take']): Promise<void> => {
    // The lease only limits the pace of sweeps, so tests skip it.
    const lists = { ...due, take, lease: () => Promise.resolve(true) };
    const deps = { runs: executor, holder: taskQueue, logger: quiet };
    return createSweep({ ...deps, store: { ...store, due: lists } })();
  };

  const startWorker: RunHarness['startWorker'] = async (options) => {
    const of = { stores, taskQueue, agents: registry, address };
    const worker = await startWorkerOf({ receivers: notify && [QUIET], ...of, ...options });
    atEndOfFile(worker.stop);
    return worker;
  };

  async function sweep(sessionId: string): Promise<void> {
    const record = await store.sessions.read(sessionId);
    if (record !== undefined && record.stream !== 'paused' && !isTerminal(record.status)) {
      // The sweep does not ask Temporal about a run that was just begun or written.
      const past = Date.now() - 10_000;
      await plant(stores.redis, sessionId, (planted) => {
        planted.updated = past;
        planted.run.started = past;
      });
    }
    await due.note(sessionId, -1_000);
    // Tests that run at once share a fleet, so a sweep of one leaves the sessions of others alone.
    const own = dueShardOf(sessionId);
    const { urgent } = createKeySpace().due(workflows.fleet, own);
    await sweepWith(async (shard) => {
      if (shard !== own) return [];
      const takenUntil = await stores.redis.zscore(urgent, sessionId);
      return [{ sessionId, list: 'urgent', takenUntil: Number(takenUntil) }];
    });
  }

  return {
    client,
    executor,
    workflows,
    taskQueue,
    startWorker,
    sweep,
    sweepUntil: (sessionId, what, done, withinMs) => {
      let sweptAt = -Infinity;
      return until(
        what,
        async () => {
          if (performance.now() - sweptAt > 1_000) {
            sweptAt = performance.now();
            await sweep(sessionId);
          }
          const record = await store.sessions.read(sessionId);
          return record !== undefined && done(record);
        },
        withinMs,
      );
    },
    sweepDue: () => sweepWith(due.take),
    due,
    begin: async (sessionId, agent, text, startAt) => {
      const id = randomBytes(4).toString('hex');
      const result = await executor.execute({
        sessionId,
        agent,
        owner: 'ann',
        tenant: 'acme',
        messages: [userMessage(id, text)],
        startAt,
      });
      if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
      // `execute` starts the workflow in the background, and tests look at the workflow.
      await executor.idle();
      return result.run;
    },
    newSessionId,
    decide: async ({ sessionId, runId }, toolCallId, approved) => {
      const { kind } = await executor.submitToolResult({
        sessionId,
        kind: 'approval-response',
        toolCallId,
        approvalId: formatApprovalId(runId, toolCallId),
        approved,
        by: 'ann',
      });
      return kind;
    },
    untilStatus: (sessionId, ...statuses) =>
      until(`the run is ${statuses.join(' or ')}`, async () => {
        const record = await store.sessions.read(sessionId);
        return record !== undefined && statuses.includes(record.status) ? record : undefined;
      }),
    result: async ({ runId }) => {
      await executor.idle();
      const outcome: unknown = await client.workflow
        .getHandle(workflowIdOf(runId))
        .result()
        .catch((error: unknown) => {
          const cause = (error as Error).cause as { type?: string; message?: string } | undefined;
          return { failed: cause?.type ?? cause?.message ?? String(error) };
        });
      return outcome;
    },
  };
}
