import { Router } from 'express';
import type { ApiMetrics } from '../metrics/api-metrics.js';

/** What this process has done, for Prometheus. Names agents and routes, nobody's data. */
export function createMetricsRoutes(metrics: ApiMetrics): Router {
  const router = Router();
  router.get('/metrics', async (_request, response) => {
    response.set('content-type', metrics.contentType).send(await metrics.read());
  });
  return router;
}
