import express, { type Express } from 'express';
import type { ApiDeps } from '../deps.js';
import { createDnsRebindingGuard, requireHost } from '../middleware/dns-rebinding-guard.js';
import { createSecurityHeaders } from '../middleware/security-headers.js';
import { sendRefusal } from '../middleware/send-refusal.js';
import { createErrorResponder, refuseUnknown, type ApiLogger } from '../middleware/refusals.js';
import { createMetricsRoutes } from '../routes/metrics.js';
import type { ApiMetrics } from './api-metrics.js';

/**
 * `/metrics` and nothing else, for a port that is not published. With `hostNames`, requests by other
 * names of the public DNS are refused.
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
  app.use(createMetricsRoutes(metrics));
  app.use(refuseUnknown);
  app.use(createErrorResponder(logger, sendRefusal));
  return app;
}
