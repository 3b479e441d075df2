import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { RunsExtension, RunsHost } from '../executor/extension.js';
import type { RunWorkflows } from '../executor/run-workflows.js';
import type { Runs } from '../executor/runs.js';

/** What an extension works with in a worker. */
export interface WorkerHost extends RunsHost {
  temporal: NonNullable<RunsHost['temporal']>;
  runs: Runs;
  workflows: RunWorkflows;
  /** Names this process. */
  holder: string;
}

/** What an extension does in one worker. */
export interface WorkerParts {
  /** Activities by name, beside those of agents. */
  activities?: object;
  /** Makes a worker that runs beside this one, with a task queue and slots of its own. */
  beside?: (worker: WorkerOptions) => Promise<Worker>;
  /** Done again and again while the worker runs; processes share such work by leases. */
  sweeps?: readonly (() => Promise<void>)[];
  /** Done once while the worker runs, until the signal fires. */
  whileItRuns?: (signal: AbortSignal) => Promise<void>;
  close?: () => Promise<void> | void;
}

/** What an extension adds to workers. */
export interface WorkerExtension extends RunsExtension {
  worker?: (host: WorkerHost) => Promise<WorkerParts> | WorkerParts;
}
