import express, { type Express } from 'express';
import type { ApiDeps } from './deps.js';
import type { ApiMetrics } from './metrics/api-metrics.js';
import { createDnsRebindingGuard, requireHost } from './middleware/dns-rebinding-guard.js';
import {
  createErrorResponder,
  refuseUnknown,
  sendRefusal,
  type ApiLogger,
} from './middleware/refusals.js';
import { createSecurityHeaders } from './middleware/security-headers.js';
import { METRICS_ROUTE, sendMetrics } from './routes/service.js';

/**
 * An Express app that serves `/metrics` and nothing else, for a port that is not published. With
 * `hostNames` it refuses requests by other names of the public DNS.
 *
 * @example
 * import { createApiMetrics, createMetricsApp } from 'helix-temporal/api';
 *
 * const metrics = createApiMetrics({ processMetrics: true });
 * createMetricsApp(metrics, console).listen(9464, '127.0.0.1');
 */
export function createMetricsApp(
  metrics: ApiMetrics,
  logger: ApiLogger,
  { hostNames }: Pick<ApiDeps, 'hostNames'> = {},
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(createSecurityHeaders(), requireHost);
  if (hostNames !== undefined) app.use(createDnsRebindingGuard(hostNames));
  app.get(METRICS_ROUTE.path, (_request, response) => sendMetrics(metrics, response));
  app.use(refuseUnknown);
  app.use(createErrorResponder(logger, sendRefusal));
  return app;
}
