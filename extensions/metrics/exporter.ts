import { createServer } from 'node:net';
import type { MetricMeter, MetricTags } from '@temporalio/common';
import type { OtelCollectorExporter, PrometheusMetricsExporter } from '@temporalio/worker';
import { WAITS } from './core-meter.js';

const CALLS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Seconds, by the name of the histogram. */
const BUCKETS = {
  gen_ai_client_inference_duration_seconds: CALLS,
  gen_ai_client_inference_time_to_first_chunk_seconds: CALLS,
  gen_ai_execute_tool_duration_seconds: CALLS,
  gen_ai_invoke_agent_duration_seconds: CALLS,
  helix_wait_duration_seconds: WAITS,
  helix_first_notice_seconds: CALLS,
};

/**
 * Configures the SDK's exporter at an address (`host:port`), with the names and buckets that
 * docs/operating.md lists. Workers of this package then export their counts with the SDK's own
 * metrics.
 *
 * @example
 * import { Runtime } from '@temporalio/worker';
 * import { exportMetricsAt } from 'helix-temporal/runtime-temporal';
 *
 * Runtime.install({ telemetryOptions: { metrics: exportMetricsAt('127.0.0.1:9465') } });
 */
export function exportMetricsAt(bindAddress: string): PrometheusMetricsExporter {
  return {
    prometheus: {
      bindAddress,
      countersTotalSuffix: true,
      useSecondsForDurations: true,
      histogramBucketOverrides: BUCKETS,
    },
  };
}

/**
 * Configures the SDK's exporter to send OTLP over HTTP to a collector. With `withDots`, metrics of
 * this project get OpenTelemetry's names.
 *
 * @param url with its path, `http://collector:4318/v1/metrics`
 */
export function exportMetricsTo(url: string, everyMs: number): OtelCollectorExporter {
  const named = Object.entries(BUCKETS).flatMap(([name, buckets]) => [
    [name, buckets],
    [toDots(name), buckets],
  ]);
  return {
    otel: {
      url,
      http: true,
      metricsExportInterval: everyMs,
      useSecondsForDurations: true,
      histogramBucketOverrides: Object.fromEntries(named) as Record<string, number[]>,
    },
  };
}

/** Returns a loopback address with a port that nothing uses now. */
export async function freeLoopbackAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${String(port)}`;
}

const READ_MS = 5_000;

/** Reads metrics from the exporter of this process, which binds its own address. */
export function metricsFrom(address: string): { contentType: string; read: () => Promise<string> } {
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    read: async () => {
      const signal = AbortSignal.timeout(READ_MS);
      const response = await fetch(`http://${address}/metrics`, { signal });
      return response.text();
    },
  };
}

/** Parts of names that keep their underscores. */
const WORDS = [
  'cost_usd',
  'wait_duration',
  'first_notice',
  'runs_ended',
  'budgets_spent',
  'step_attempts',
  'provider_retries',
  'tool_retries',
  'lease_judgements',
  'leases_lost',
  'take_overs',
  'gen_ai',
  'execute_tool',
  'invoke_agent',
  'time_to_first_chunk',
  'cache_read',
  'cache_write',
  'input_tokens',
  'output_tokens',
  'inference_calls',
  'tool_calls',
];
const WORD = new RegExp(`(?:^|_)(${WORDS.join('|')})(?=_|$)`, 'g');

/**
 * Converts a name for OTLP: `gen_ai.client.inference.usage.input_tokens` for
 * `gen_ai_client_inference_usage_input_tokens`, without units and `_total`. Pure.
 */
function toDots(name: string): string {
  return name
    .replace(/_total$/, '')
    .replace(/_seconds$/, '')
    .replaceAll(WORD, (found, word: string) => found.replace(word, word.replaceAll('_', '-')))
    .replaceAll('_', '.')
    .replaceAll('-', '_');
}

const toTags = (tags: MetricTags = {}): MetricTags =>
  Object.fromEntries(Object.entries(tags).map(([name, value]) => [toDots(name), value]));

/** Wraps a meter so that metrics and attributes get OpenTelemetry's names. */
export function withDots(meter: MetricMeter): MetricMeter {
  const unitOf = (name: string): string | undefined =>
    name.endsWith('_seconds') ? 's' : undefined;
  /** Wraps the method that takes a value and its tags. */
  const named = <Method extends string, Metric extends Record<Method, Take>>(
    metric: Metric,
    method: Method,
  ): Metric =>
    Object.assign(Object.create(metric) as Metric, {
      [method]: (value: number, tags?: MetricTags) => metric[method](value, toTags(tags)),
    });
  return {
    withTags: (tags) => withDots(meter.withTags(toTags(tags))),
    createCounter: (name, unit, description) =>
      named(meter.createCounter(toDots(name), unit, description), 'add'),
    createHistogram: (name, valueType, unit = unitOf(name), description) =>
      named(meter.createHistogram(toDots(name), valueType, unit, description), 'record'),
    createGauge: (name, valueType, unit, description) =>
      named(meter.createGauge(toDots(name), valueType, unit, description), 'set'),
  };
}
type Take = (value: number, tags?: MetricTags) => void;
