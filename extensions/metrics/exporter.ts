import { createServer } from 'node:net';
import type { OtelCollectorExporter, PrometheusMetricsExporter } from '@temporalio/worker';
import { toDots } from './with-dots.js';

const CALLS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const WAITS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];

/** In seconds; names as they are counted. */
const BUCKETS = {
  gen_ai_client_inference_duration_seconds: CALLS,
  gen_ai_client_inference_time_to_first_chunk_seconds: CALLS,
  gen_ai_execute_tool_duration_seconds: CALLS,
  gen_ai_invoke_agent_duration_seconds: CALLS,
  helix_wait_duration_seconds: WAITS,
  helix_first_notice_seconds: CALLS,
};

/**
 * The exporter of Temporal's SDK at an address (`host:port`), with the names and buckets that
 * docs/operating.md lists. Workers of this package then count beside what the SDK measures.
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
 * The exporter of Temporal's SDK that sends to a collector, as OTLP over HTTP. What this project counts
 * has the names of OpenTelemetry with `withDots`.
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

/** An address of this machine alone, at a port that nothing uses now. */
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

/** Metrics as another server of this process exports them; that one binds an address of its own. */
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
