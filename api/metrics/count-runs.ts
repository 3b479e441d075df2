import type { AgentExecutor } from '../../executor/agent-executor.js';
import type { ApiMetrics } from './api-metrics.js';

/** The executor, which counts the runs that it begins. */
export function countRuns(executor: AgentExecutor, metrics: ApiMetrics): AgentExecutor {
  return {
    ...executor,
    execute: async (input) => {
      const result = await executor.execute(input);
      if (result.kind === 'begun') metrics.begun(result.run.agent);
      return result;
    },
    resume: async (input) => {
      const result = await executor.resume(input);
      if (result.kind === 'resumed') metrics.begun(result.run.agent);
      return result;
    },
    retry: async (input) => {
      const run = await executor.retry(input);
      metrics.begun(run.agent);
      return run;
    },
  };
}
