import { parseEnv } from '../../../config/env.js';
import { readMetricsCollector } from '../../../extensions/metrics/worker-process.js';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

it.each([
  [
    'to the collector of traces',
    {},
    {
      what: 'metrics',
      setting: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      url: 'http://collector:4318/v1/metrics',
      everyMs: 10_000,
    },
  ],
  [
    'to one of their own',
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/in', OTEL_METRIC_EXPORT_INTERVAL: '500' },
    {
      what: 'metrics',
      setting: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
      url: 'http://m/in',
      everyMs: 500,
    },
  ],
  ['nowhere without a collector', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined }, undefined],
  ['nowhere, where they are read at a port', { WORKER_METRICS_PORT: '9465' }, undefined],
  ['nowhere, where that is asked for', { OTEL_METRICS_EXPORTER: 'none' }, undefined],
  ['nowhere, with OpenTelemetry off', { OTEL_SDK_DISABLED: 'true' }, undefined],
])('metrics are sent %s', (_where, env, expected) => {
  expect(readMetricsCollector(parseEnv({ ...COLLECTOR, ...env }))).toEqual(expected);
});
