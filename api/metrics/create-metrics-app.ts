import express, { type Express } from 'express';
import { requireHost } from '../edge/require-host.js';
import { createSecurityHeaders } from '../edge/security-headers.js';
import { sendRefusal } from '../edge/send-refusal.js';
import { createErrorResponder, refuseUnknown, type ApiLogger } from '../refusals.js';
import { createMetricsRoutes } from '../routes/metrics.js';
import type { ApiMetrics } from './api-metrics.js';

/** `/metrics` and nothing else, for a port that is not published. */
export function createMetricsApp(metrics: ApiMetrics, logger: ApiLogger): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(createSecurityHeaders(), requireHost);
  app.use(createMetricsRoutes(metrics));
  app.use(refuseUnknown);
  app.use(createErrorResponder(logger, sendRefusal));
  return app;
}
