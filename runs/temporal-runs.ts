import type { Client } from '@temporalio/client';
import type { RunsDeps } from './deps.js';
import { createRuns } from './create-runs.js';
import { tracerOf, type TemporalHost } from './extension.js';
import { createRunWorkflows, type RunWorkflows } from './run-workflows.js';
import { registerSearchAttributes } from './search-attributes.js';

/** Composes the runs that the workers of a task queue execute, for web servers and workers alike. */
export async function createTemporalRuns(
  client: Client,
  taskQueue: string,
  deps: Omit<RunsDeps, 'workflows' | 'temporal' | 'carriesOut'>,
): Promise<{
  runs: ReturnType<typeof createRuns>;
  workflows: RunWorkflows;
  temporal: TemporalHost;
}> {
  const { store, extensions, times, logger } = deps;
  const workflows = createRunWorkflows(client, taskQueue, store, tracerOf(extensions), times);
  const { connection, options } = client;
  const searchAttributes = await registerSearchAttributes(connection, options.namespace, logger);
  const temporal = { client, taskQueue, searchAttributes };
  return { runs: createRuns({ ...deps, workflows, temporal }), workflows, temporal };
}
