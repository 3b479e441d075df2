import type { Config } from './env.js';

/** Where a worker sends its metrics as OTLP; undefined if it does not. Those that are read at a port are not sent. */
export function readMetricsCollector(config: Config): { url: string; everyMs: number } | undefined {
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
  const url =
    config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ??
    (base === undefined ? base : `${base}/v1/metrics`);
  const isOff = config.OTEL_SDK_DISABLED || config.OTEL_METRICS_EXPORTER === 'none';
  if (url === undefined || isOff || config.WORKER_METRICS_PORT !== undefined) return undefined;
  return { url, everyMs: config.OTEL_METRIC_EXPORT_INTERVAL };
}
