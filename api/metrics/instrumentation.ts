import type { Request, RequestHandler } from 'express';
import type { ApiRuns } from '../deps.js';
import type { ApiMetrics } from './api-metrics.js';

/** Requests without a route: unknown paths, files, refusals before a route is looked for. */
const NO_ROUTE = 'none';

/** Counts every request when its reply has ended or its sender has left. */
export function createRequestObserver(metrics: ApiMetrics): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      metrics.answered({
        method: request.method,
        route: toPattern(request),
        status: response.statusCode,
        seconds: (performance.now() - startedAt) / 1_000,
        isStream: String(response.getHeader('content-type')).startsWith('text/event-stream'),
      });
    });
    next();
  };
}

function toPattern(request: Request): string {
  const route = request.route as { path: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : NO_ROUTE;
}

/** The executor, with its runs counted. */
export function countRuns(executor: ApiRuns, metrics: ApiMetrics): ApiRuns {
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
