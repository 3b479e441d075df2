import type { Request, RequestHandler } from 'express';
import { NO_METER, type RunMeter } from '../protocol/telemetry.js';
import type { ErrorCode } from '../protocol/errors.js';

/** Counts of streams. They are plain numbers, since every token is counted. */
export interface StreamMeter {
  open: number;
  writes: number;
  /** Length of texts, or number of bytes. */
  characters: number;
}

export interface ApiMetrics {
  readonly contentType: string;
  read: () => Promise<string>;
  /** A request was answered; `route` is a pattern, never a path. */
  answered: (request: {
    method: string;
    route: string;
    status: number;
    seconds: number;
    isStream: boolean;
  }) => void;
  refused: (code: ErrorCode) => void;
  begun: (agent: string) => void;
  streams: StreamMeter;
  /** Meter for `createAgentExecutor({ meter })`. */
  runs: RunMeter;
}

export const NO_METRICS: ApiMetrics = {
  contentType: 'text/plain',
  read: () => Promise.resolve(''),
  answered: () => undefined,
  refused: () => undefined,
  begun: () => undefined,
  streams: { open: 0, writes: 0, characters: 0 },
  runs: NO_METER,
};

/** Label of requests without a route: unknown paths, files, refusals before routing. */
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
