import type { Request, RequestHandler, Response } from 'express';
import type { ApiMetrics } from './api-metrics.js';

/** Requests that no route has answered: unknown paths, refusals before a route was looked for, files. */
const NO_ROUTE = 'none';

/** Counts every request, when its reply has ended or its sender has left. */
export function createRequestObserver(metrics: ApiMetrics): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      metrics.answered({
        method: request.method,
        route: toPattern(request, response),
        status: response.statusCode,
        seconds: (performance.now() - startedAt) / 1_000,
        isStream: String(response.getHeader('content-type')).startsWith('text/event-stream'),
      });
    });
    next();
  };
}

/** Notes where a router stands, since its routes only know their own part of the pattern. */
export function createMountNote(path: string): RequestHandler {
  return (_request, response, next) => {
    response.locals['mount'] = path;
    next();
  };
}

function toPattern(request: Request, response: Response): string {
  const route = request.route as { path: unknown } | undefined;
  if (typeof route?.path !== 'string') return NO_ROUTE;
  const mount = String(response.locals['mount'] ?? '');
  return `${mount}${route.path}`.replace(/(?<=.)\/$/, '').replace(/^\/\//, '/');
}
