import express, { type Express } from 'express';
import type { ReadinessReply } from '../protocol/replies.js';
import type { ApiDeps } from './deps.js';
import type { ApiMetrics } from './metrics/api-metrics.js';
import {
  createDnsRebindingGuard,
  requireHost,
  createSecurityHeaders,
} from './middleware/guards.js';
import {
  createErrorResponder,
  refuseUnknown,
  sendRefusal,
  type ApiLogger,
} from './middleware/refusals.js';
import { METRICS_ROUTE, sendMetrics, sendReadiness } from './routes/service.js';

interface MetricsAppOptions extends Pick<ApiDeps, 'hostNames'> {
  /** Which parts answer. */
  readReadiness?: () => Promise<ReadinessReply>;
}

/**
 * An Express app for a port that is not published: `/metrics`, `/healthz`, and with `readReadiness`
 * `/readyz`. With `hostNames` it refuses requests by other names of the public DNS.
 *
 * @example
 * import { createApiMetrics, createMetricsApp } from 'helix-temporal/api';
 *
 * const metrics = createApiMetrics({ processMetrics: true });
 * createMetricsApp(metrics, console).listen(9464, '127.0.0.1');
 */
export function createMetricsApp(
  metrics: Pick<ApiMetrics, 'contentType' | 'read'>,
  logger: ApiLogger,
  { hostNames, readReadiness }: MetricsAppOptions = {},
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(createSecurityHeaders(), requireHost);
  if (hostNames !== undefined) app.use(createDnsRebindingGuard(hostNames));
  app.get(METRICS_ROUTE.path, (_request, response) => sendMetrics(metrics, response));
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'ok' });
  });
  if (readReadiness !== undefined) {
    app.get('/readyz', (_request, response) => sendReadiness(readReadiness, response));
  }
  app.use(refuseUnknown);
  app.use(createErrorResponder(logger, sendRefusal));
  return app;
}
