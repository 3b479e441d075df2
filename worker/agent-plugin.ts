import { hostname } from 'node:os';
import { Client } from '@temporalio/client';
import type { MetricMeter } from '@temporalio/common';
import {
  Runtime,
  type BundlerPlugin,
  type State,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker';
import {
  createActivities,
  createToolHost,
  type ActivityDeps,
  type ActivityLogger,
} from '../activities/index.js';
import { createOwnerLookup } from '../activities/run-agent.js';
import { TOOL_SLOTS } from '../activities/tool-call.js';
import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import { createReconcile } from '../runs/reconcile.js';
import { createSweep, startSweeper } from '../runs/sweep.js';
import { createRelease } from '../runs/agent-pauses.js';
import { createToolWork } from '../runs/tool-work.js';
import { lastOfEach, withCodecs } from '../runs/extension.js';
import { createTemporalRuns } from '../runs/temporal-runs.js';
import { sessionOfRun } from '../protocol/ids.js';
import type { RunStatus } from '../protocol/run.js';
import { NO_METER } from '../protocol/telemetry.js';
import { withTimeout } from '../protocol/time.js';
import type { Times } from '../protocol/limits.js';
import { joinStores } from '../store/contract/shared-data.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import type { SlotLimits } from '../protocol/fair-slots.js';
import type { FindTenant, WorkerContributions, WorkerExtension } from './extension.js';
import { withSeal } from './seal.js';
import { createTakeOver } from './take-over.js';
import { activityWorkerOptions, createToolWorker, runWithSecond } from './tool-worker.js';
import {
  createMoveWaiting,
  makeCurrent,
  toDeploymentOptions,
  type DeploymentConnection,
  type WorkerVersioning,
} from './versioning.js';
import { toEagerSlots, toSettings, toSlots } from './worker-settings.js';
import { addAgentRun, withWorkflows, type WorkflowSource } from './workflow-source.js';

export type WorkerLogger = ActivityLogger;

export interface AgentPluginOptions extends Pick<ActivityDeps, 'fileHosts'> {
  /** The agents that runs on this task queue can use. */
  agents: AgentRegistry | readonly AgentDefinition[];
  /** `createRedisStores(…)`. The caller closes them after the worker has ended. */
  stores: { store: Store; streamManager: StreamManager; unansweredMs?: () => number };
  /** Passed to tools as `context.services`. */
  services?: Readonly<Record<string, unknown>>;
  /** True recovers stuck runs while the worker runs; processes share this work. Default true. */
  sweep?: boolean;
  versioning?: WorkerVersioning;
  /** Default: the bundle in this package. */
  workflows?: WorkflowSource;
  /** Name of the model, and address of a conversation; shown to operators. */
  modelName?: string;
  sessionUrl?: (sessionId: string, runId: string) => string;
  /** Public address of the API, for webhooks. */
  publicUrl?: string | undefined;
  /** Runs that are not started within this time end as `engine_unavailable`, ms. Default 15 minutes. */
  startWithinMs?: number;
  /** Times after which the worker acts by itself. Default: `TIMES`. */
  times?: Times;
  /** Optional capabilities; executors need the same. Default: none. */
  extensions?: readonly WorkerExtension[] | undefined;
  /** Concurrent model calls in one process. Default: 300. */
  modelSlots?: number;
  /** Concurrent tool executions in one process, in total and for one user. Default: 200 and 50. */
  toolSlots?: SlotLimits;
  /** Runs that one process caches between tasks; 0: none. Default: by its heap limit, up to 500. */
  cachedRuns?: number | undefined;
  /** Meter of `metrics()`. Default: that of `Runtime`. `meterTenants` counts cost by tenant. */
  meter?: MetricMeter;
  meterTenants?: boolean;
  /** Default: no logging. */
  logger?: WorkerLogger;
}

/** States of a worker that has not been asked to shut down. */
const UP: ReadonlySet<string> = new Set<State>(['INITIALIZED', 'RUNNING']);

/** A sweep in progress when the worker ends may take this long, ms. */
const SWEEP_END_MS = 2_000;

/** States of runs that wait, including runs that have not begun. */
const WAITS: ReadonlySet<RunStatus> = new Set(['starting', 'waiting_approval', 'waiting_tool']);

const SILENT: WorkerLogger = { info: () => undefined, warn: () => undefined };

/** Creates the plugin that adds agents to a worker, without the extensions that every exported one has. */
export function createAgentPlugin(options: AgentPluginOptions): WorkerPlugin & BundlerPlugin {
  const { stores, services = {}, logger = SILENT, versioning, toolSlots = TOOL_SLOTS } = options;
  const { modelName, sessionUrl, publicUrl, startWithinMs, times, fileHosts } = options;
  const extensions = lastOfEach(options.extensions);
  joinStores(stores);
  const agents =
    options.agents instanceof AgentRegistry ? options.agents : new AgentRegistry(options.agents);
  let composed: Awaited<ReturnType<typeof compose>> | undefined;
  let createBeside: (() => Promise<Worker>)[] = [];
  let isDraining = (): boolean => false;

  /** Returns the activities of a worker, and what runs beside and after it. */
  async function compose(worker: WorkerOptions) {
    const { connection, namespace = 'default', taskQueue, dataConverter } = worker;
    if (connection === undefined) {
      throw new Error('Agents need a worker with a connection: pass one to Worker.create.');
    }
    const client = new Client({ connection, namespace, dataConverter });
    const { leases, sessions } = stores.store;
    const findOwner = createOwnerLookup(sessions);
    const findTenant: FindTenant = async (run) => (await findOwner(run))?.tenant;
    const meter =
      extensions
        .find((each) => each.meter !== undefined)
        ?.meter?.(
          options.meter ?? Runtime.instance().metricMeter,
          options.meterTenants === true ? findTenant : undefined,
        ) ?? NO_METER;
    const { unansweredMs } = stores;
    const judging = extensions.find(({ liveness }) => liveness !== undefined);
    // The lease starts only when the worker runs, since `Worker.create` may fail after this.
    const held = leases && judging?.liveness?.({ namespace, unansweredMs, times, logger, leases });
    held?.countWith(meter);
    const settings = { modelName, sessionUrl, startWithinMs, times, meter, logger };
    const deps = { ...stores, extensions, agents, ...settings };
    const { runs, workflows, temporal } = await createTemporalRuns(client, taskQueue, deps);
    const { fleet } = workflows;
    const store = { ...stores.store, due: stores.store.due.of(fleet) };
    const holder = `${hostname()}:${String(process.pid)}`;
    const toolHost = createToolHost(logger);
    const activities = createActivities({
      ...stores,
      store,
      agents,
      services,
      publicUrl,
      startNext: runs.startNext,
      others: runs.listeners,
      uploads: runs.uploads,
      wake: ({ runId }) => runs.wake(runId),
      workflowState: workflows.state,
      toolWork: createToolWork(client, taskQueue, logger),
      isDraining: () => isDraining(),
      toolSlots,
      fileHosts,
      extensions,
      toolHost,
      lease: held?.lease,
      meter,
      logger,
      eagerSlots: toEagerSlots(worker, options),
    });
    const host = { store, agents, fleet, temporal, runs, workflows, meter, holder, times, logger };
    const added: readonly WorkerContributions[] = await Promise.all(
      extensions.map(async (each) => (await each.worker?.(host)) ?? {}),
    );
    const pauses = store.pauses.of(fleet);
    const { startRun } = runs;
    const sweeps = [
      createSweep({ store, runs, holder, times, logger }),
      createReconcile({ store, workflows, holder, times, logger }),
      createRelease({ pauses, store, startRun, holder, startWithinMs, logger }),
      ...added.flatMap((part) => part.sweeps ?? []),
    ];
    const isWaiting = async (runId: string): Promise<boolean> => {
      const record = await sessions.read(sessionOfRun(runId));
      return record?.runId === runId && WAITS.has(record.status);
    };
    const { wake } = workflows;

    /** Makes the worker's version current, and moves runs that wait off a former one. */
    function* keepVersion(signal: AbortSignal): Generator<Promise<void>> {
      if (versioning === undefined || connection === undefined) return;
      const { deploymentName, buildId, makeCurrent: rule = false, behavior } = versioning;
      if (rule !== false) yield announceVersion(connection, namespace, versioning, signal);
      if (behavior === 'AUTO_UPGRADE') return;
      const lease = (forMs: number): Promise<boolean> =>
        store.due.leaseWork(`move from ${deploymentName}:${buildId}`, holder, forMs);
      const ofRuns = { wake, times, signal, isWaiting, lease };
      yield sweepUntil(signal, createMoveWaiting(connection, client, versioning, ofRuns));
    }

    const others = added.map((part) => part.activities ?? {});
    return {
      activities: others.reduce<object>(withActivities, activities),
      lease: held?.lease,
      createBeside: (configured: WorkerOptions) => [
        () => createToolWorker(configured, activities.toolCall, toolSlots.total),
        ...added.flatMap(({ beside }) =>
          beside ? [() => Worker.create({ ...activityWorkerOptions(configured), ...beside })] : [],
        ),
      ],
      whileItRuns: (signal: AbortSignal): Promise<void>[] => [
        ...(held === undefined ? [] : [held.judge(signal, createTakeOver(client))]),
        ...(options.sweep === false ? [] : sweeps.map((sweep) => sweepUntil(signal, sweep))),
        ...keepVersion(signal),
        ...added.flatMap((part) => part.whileItRuns?.(signal) ?? []),
      ],
      end: async (): Promise<void> => {
        // A conversation's next queued run may still be starting after the activity that ended the
        // last one.
        await withTimeout(SWEEP_END_MS, runs.idle()).catch(() => undefined);
        await held?.lease.close();
        const closed = Promise.all(added.map(async ({ close }) => close?.()));
        await withTimeout(SWEEP_END_MS, closed).catch(() => undefined);
        await withTimeout(SWEEP_END_MS, toolHost.close()).catch(() => undefined);
      },
    };
  }

  async function announceVersion(
    connection: DeploymentConnection,
    namespace: string,
    version: WorkerVersioning,
    signal: AbortSignal,
  ): Promise<void> {
    const current = await makeCurrent(connection, namespace, version, signal);
    if (current === undefined || current === version.buildId) return;
    logger.info({ current, buildId: version.buildId }, 'another version takes new runs');
  }

  async function sweepUntil(signal: AbortSignal, sweep: () => Promise<void>): Promise<void> {
    const sweeper = startSweeper(sweep, logger);
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
    // A sweep that waits for an unavailable Redis would delay the end of the worker.
    await withTimeout(SWEEP_END_MS, sweeper.stop()).catch(() => undefined);
  }

  function withCodec(worker: WorkerOptions): WorkerOptions {
    const dataConverter = withCodecs(worker.dataConverter, extensions);
    return { ...worker, ...(dataConverter && { dataConverter }) };
  }

  return {
    name: 'helix-temporal',
    configureWorker: async (given) => {
      const worker = withCodec(given);
      composed = await compose(worker);
      const configured = {
        ...toSettings(options.cachedRuns),
        ...(worker.tuner === undefined && toSlots(options.modelSlots)),
        ...(versioning !== undefined && toDeploymentOptions(versioning)),
        ...worker,
        ...withSeal(worker),
        activities: withActivities(worker.activities ?? {}, composed.activities),
      };
      createBeside = composed.createBeside(configured);
      return withWorkflows(configured, options.workflows);
    },
    configureBundler: addAgentRun,
    configureReplayWorker: (worker) =>
      withWorkflows(withCodec(worker as WorkerOptions), options.workflows),
    runWorker: async (worker: Worker, next) => {
      isDraining = () => !UP.has(worker.getState());
      const life = new AbortController();
      composed?.lease?.start();
      const beside = (composed?.whileItRuns(life.signal) ?? []).map((work) =>
        work.catch((error: unknown) => {
          logger.warn({ err: error }, 'the worker runs without this');
        }),
      );
      try {
        const runAll = createBeside.reduce<() => Promise<void>>(
          (run, create) => () => runWithSecond(worker, create, run),
          () => next(worker),
        );
        await runAll();
      } finally {
        life.abort();
        await Promise.all(beside);
        await composed?.end();
      }
    },
  };
}

function withActivities(theirs: object, ours: object): object {
  const twice = Object.keys(ours).find((name) => name in theirs);
  if (twice !== undefined) throw new Error(`This worker already has an activity "${twice}".`);
  return { ...theirs, ...ours };
}
