import { createCollectorLines } from '../../../config/collector-lines.js';
import { parseEnv } from '../../../config/env.js';
import {
  createSdkLog,
  readMetricsCollector,
  startWorkerMetrics,
} from '../../../extensions/metrics/worker-process.js';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

it.each([
  [
    'to the collector of traces',
    {},
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/v1/metrics', 10_000],
  ],
  [
    'to one of their own',
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/in', OTEL_METRIC_EXPORT_INTERVAL: '500' },
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'http://m/in', 500],
  ],
  ['nowhere without a collector', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined }, undefined],
  ['nowhere, where they are read at a port', { WORKER_METRICS_PORT: '9465' }, undefined],
  ['nowhere, where that is asked for', { OTEL_METRICS_EXPORTER: 'none' }, undefined],
  ['nowhere, with OpenTelemetry off', { OTEL_SDK_DISABLED: 'true' }, undefined],
])('metrics are sent %s', (_where, env, expected) => {
  const { setting, url, everyMs } = readMetricsCollector(parseEnv({ ...COLLECTOR, ...env })) ?? {};
  expect(setting && [setting, url, everyMs]).toEqual(expected);
});

it.each([
  ['the repeated calls of an outage', 'gRPC call poll_workflow_task_queue retried 9 times', true],
  ['other lines', 'Network error while completing activity', false],
])("lines of the SDK's core have the form of this log: %s", async (_what, message, isOutage) => {
  const lines: unknown[] = [];
  const warn = ({ err }: { err?: unknown }, text: string): void => void lines.push([text, err]);
  const { runtime } = await startWorkerMetrics(parseEnv({}), { warn } as never);
  expect(runtime.telemetryOptions?.logging).toMatchObject({ forward: {} });
  runtime.logger?.warn(message, { error: 'Status { code: Unavailable }' });
  // The log writes an error of this code once a minute.
  const away = expect.objectContaining({ code: 'unavailable' }) as unknown;
  const line = isOutage ? ['Temporal does not answer', away] : [message, expect.anything()];
  expect(lines).toEqual([line]);
});

function open() {
  const lines: string[] = [];
  const keep = (_: object, text: string): void => void lines.push(text);
  const logger = { info: keep, warn: keep, error: keep } as never;
  const setting = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const url = 'http://collector:4318/v1/metrics';
  const collector = createCollectorLines(logger, { what: 'metrics', setting, url });
  return { lines, log: createSdkLog(logger, { lines: collector, quietMs: 60_000 }) };
}

it('a collector of metrics that is away is one line, which names the setting', () => {
  const { lines, log } = open();
  for (let at = 0; at < 5; at += 1) {
    log.warn('OTLP metric export failed; metrics may be dropped', { error: 'network error' });
  }
  log.warn('Activity failed', { error: new Error('a fault') });
  log.warn('No workflows registered for worker');
  expect(lines).toEqual([
    'The collector at http://collector:4318/v1/metrics does not take metrics: start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Runs are not affected.',
    'Activity failed',
  ]);
});

it('a collector of metrics counts as back once no export has failed for a while', () => {
  jest.useFakeTimers();
  const { lines, log } = open();
  const miss = (): void =>
    log.warn('OTLP metric export failed; metrics may be dropped', { error: 'network error' });
  miss();
  jest.advanceTimersByTime(59_000);
  miss();
  jest.advanceTimersByTime(59_000);
  expect(lines).toHaveLength(1);
  jest.advanceTimersByTime(1_000);
  expect(lines.slice(1)).toEqual([
    'The collector at http://collector:4318/v1/metrics takes metrics again.',
  ]);
  miss();
  expect(lines).toHaveLength(3);
});
