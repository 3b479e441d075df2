import type { Extension } from '../../extension.js';
import { defineRoute, requireNoTenant, type Route } from '../../api/extension.js';
import { createMetricsIfInstalled } from './api-metrics.js';
import { createCoreMeter } from './core-meter.js';

export {
  createApiMetrics,
  createMetricsIfInstalled,
  type ApiMetricsOptions,
} from './api-metrics.js';

/** Serves metrics of all tenants on the API's port, unless they have a port of their own. */
const METRICS_ROUTE: Route = defineRoute({
  method: 'get',
  path: '/metrics',
  id: 'getMetrics',
  audits: 'none',
  summary: 'Get metrics of this process',
  replies: {
    200: { description: 'Metrics.', content: { text: "Prometheus' text format." } },
  },
  refusals: ['not_allowed'],
  handle: async ({ deps, response, caller }) => {
    await requireNoTenant(deps, caller, 'Metrics are');
    response.set('content-type', deps.metrics.contentType).send(await deps.metrics.read());
  },
});

/** Counts requests and runs, for Prometheus and OpenTelemetry; docs/operating.md. */
export function metrics(): Extension {
  return {
    name: 'metrics',
    routes: [METRICS_ROUTE],
    metrics: createMetricsIfInstalled,
    meter: createCoreMeter,
  };
}
