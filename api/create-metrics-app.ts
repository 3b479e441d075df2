import express, { type Express } from 'express';
import type { ReadinessReply } from '../protocol/replies.js';
import type { ApiDeps } from './deps.js';
import type { ApiMetrics } from './metrics.js';
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
import { sendReadiness } from './routes/service.js';

interface MetricsAppOptions extends Pick<ApiDeps, 'hostNames'> {
  readReadiness?: () => Promise<ReadinessReply>;
}

/**
 * Creates an Express app for an unpublished port: `/metrics`, `/healthz`, and `/readyz` if
 * `readReadiness` is given. With `hostNames` it refuses requests to other public DNS names.
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
  app.get('/metrics', async (_request, response) => {
    response.set('content-type', metrics.contentType).send(await metrics.read());
  });
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
