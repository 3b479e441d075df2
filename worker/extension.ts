import type { MetricMeter } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import type { RunMeter } from '../protocol/telemetry.js';
import type { RunsExtension, RunsHost } from '../runs/extension.js';
import type { PreparedRuns } from '../runs/run-start.js';
import type { RunWorkflows } from '../runs/run-workflows.js';
import type { Runs } from '../runs/runs.js';
import type { Liveness, LivenessDeps } from './liveness.js';

/** What an extension works with in a worker. */
export interface WorkerHost extends RunsHost {
  temporal: NonNullable<RunsHost['temporal']>;
  runs: Runs & PreparedRuns;
  workflows: RunWorkflows;
  /** Names this process. */
  holder: string;
}

/** What an extension does in one worker. */
export interface WorkerParts {
  /** Activities by name, beside those of agents. */
  activities?: object;
  /** A worker that runs beside this one: its task queue, slots, and what it serves. */
  beside?: Pick<WorkerOptions, 'taskQueue'> & Partial<WorkerOptions>;
  /** Done again and again while the worker runs; processes share such work by leases. */
  sweeps?: readonly (() => Promise<void>)[];
  /** Done once while the worker runs, until the signal fires. */
  whileItRuns?: (signal: AbortSignal) => Promise<void>;
  close?: () => Promise<void> | void;
}

/** Finds the tenant of a run; undefined if it has none. */
export type FindTenant = (run: { sessionId: string; runId: string }) => Promise<string | undefined>;

/** What an extension adds to workers. */
export interface WorkerExtension extends RunsExtension {
  worker?: (host: WorkerHost) => Promise<WorkerParts> | WorkerParts;
  /** How workers notice that another one has died; of one extension, and not used if the store has no leases. */
  liveness?: (deps: LivenessDeps) => Liveness;
  /**
   * Counts what happens in the worker, with Temporal's meter; of one extension.
   *
   * @param findTenant if tenants are to be counted
   */
  meter?: (meter: MetricMeter, findTenant: FindTenant | undefined) => RunMeter;
}
