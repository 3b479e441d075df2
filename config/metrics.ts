import type { Config } from './env.js';

/** Where a worker sends its metrics as OTLP, and which setting says so. */
export interface MetricsCollector {
  what: 'metrics';
  setting: string;
  url: string;
  everyMs: number;
}

/** Undefined if they are not sent. Those that are read at a port are not. */
export function readMetricsCollector(config: Config): MetricsCollector | undefined {
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '');
  const own = config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT;
  const url = own ?? (base === undefined ? base : `${base}/v1/metrics`);
  const isOff = config.OTEL_SDK_DISABLED || config.OTEL_METRICS_EXPORTER === 'none';
  if (url === undefined || isOff || config.WORKER_METRICS_PORT !== undefined) return undefined;
  const setting =
    own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT';
  return { what: 'metrics', setting, url, everyMs: config.OTEL_METRIC_EXPORT_INTERVAL };
}
