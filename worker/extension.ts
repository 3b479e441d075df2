import type { MetricMeter } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import type { ActivityExtension } from '../activities/extension.js';
import type { RunMeter } from '../protocol/telemetry.js';
import type { Times } from '../protocol/limits.js';
import type { RunsExtension, RunsHost } from '../runs/extension.js';
import type { PreparedRuns } from '../runs/begins.js';
import type { RunWorkflows } from '../runs/run-workflows.js';
import type { Runs } from '../runs/runs.js';
import type { Liveness, LivenessDeps } from './liveness.js';

export interface WorkerHost extends RunsHost {
  temporal: NonNullable<RunsHost['temporal']>;
  runs: Runs & PreparedRuns;
  workflows: RunWorkflows;
  holder: string;
  times?: Times | undefined;
}

/** Contributions of an extension to one worker. */
export interface WorkerContributions {
  activities?: object;
  /** Options of a second worker that runs with this one, on another task queue. */
  beside?: Pick<WorkerOptions, 'taskQueue'> & Partial<WorkerOptions>;
  /** Repeated while the worker runs; processes share such work by leases. */
  sweeps?: readonly (() => Promise<void>)[];
  /** Runs once with the worker, until the signal fires. */
  whileItRuns?: (signal: AbortSignal) => Promise<void>;
  close?: () => Promise<void> | void;
}

/** Finds the tenant of a run; undefined if it has none. */
export type FindTenant = (run: { sessionId: string; runId: string }) => Promise<string | undefined>;

/** Contributions of an extension to workers. */
export interface WorkerExtension extends RunsExtension, ActivityExtension {
  worker?: (host: WorkerHost) => Promise<WorkerContributions> | WorkerContributions;
  /** Detects dead workers; the first extension wins. Unused if the store has no leases. */
  liveness?: (deps: LivenessDeps) => Liveness;
  /**
   * Counts the worker's events with Temporal's meter, by tenant if `findTenant` is given; the first
   * extension that has it wins.
   */
  meter?: (meter: MetricMeter, findTenant: FindTenant | undefined) => RunMeter;
}
