import type { MetricMeter } from '@temporalio/common';
import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { createCollectorLines, type CollectorLines } from '../../config/collector-lines.js';
import type { Config } from '../../config/env.js';
import type { Logger } from '../../config/logger.js';
import { isLoopback } from '../../config/startup.js';
import { HelixError } from '../../protocol/errors.js';
import {
  exportMetricsAt,
  exportMetricsTo,
  freeLoopbackAddress,
  metricsFrom,
  withDots,
} from './exporter.js';

/** Metrics of a worker's process. */
export interface WorkerMetrics {
  /** Includes the log of Temporal's SDK. */
  runtime: RuntimeOptions;
  /** Call it once the runtime is installed. Default: the runtime's meter. */
  meter?: () => MetricMeter;
  /** Serves metrics and readiness at the operators' port; absent without such a port. */
  serve?: (
    checks: Readonly<Record<string, () => Promise<void>>>,
  ) => Promise<{ port: number; close: () => Promise<void> }>;
}

/** Otherwise the SDK's core, which warns of the servers that it calls, prints lines of its own form. */
const logging = { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } as const;

/** Prepares the metrics: served at a port, sent to a collector, or neither. */
export async function startWorkerMetrics(config: Config, logger: Logger): Promise<WorkerMetrics> {
  const at = config.WORKER_METRICS_PORT;
  if (at !== undefined) {
    const address = await freeLoopbackAddress();
    const metrics = exportMetricsAt(address);
    return {
      runtime: { telemetryOptions: { metrics, logging }, logger: createSdkLog(logger) },
      serve: (checks) => serveMetrics(at, address, checks, logger),
    };
  }
  const collector = readMetricsCollector(config);
  if (collector === undefined) {
    return { runtime: { telemetryOptions: { logging }, logger: createSdkLog(logger) } };
  }
  const { url, everyMs } = collector;
  const lines = createCollectorLines(logger, collector);
  return {
    runtime: {
      telemetryOptions: { metrics: exportMetricsTo(url, everyMs), logging },
      logger: createSdkLog(logger, { lines, quietMs: quietAfter(everyMs) }),
    },
    meter: () => withDots(Runtime.instance().metricMeter),
  };
}

/** Serves the SDK's metrics and the state of this process. */
async function serveMetrics(
  { host, port }: { host: string; port: number },
  address: string,
  checks: Parameters<NonNullable<WorkerMetrics['serve']>>[0],
  logger: Logger,
) {
  // Workers without this port do not load the API's code.
  const [{ createMetricsApp }, { createReadiness }, { listen }] = await Promise.all([
    import('../../api/create-metrics-app.js'),
    import('../../api/readiness.js'),
    import('../../api/listen.js'),
  ]);
  const hostNames = isLoopback(host) ? [] : undefined;
  const readReadiness = createReadiness(checks);
  const app = createMetricsApp(metricsFrom(address), logger, { hostNames, readReadiness });
  return listen(app, port, host);
}

/** Collector of a worker's metrics, and the setting that names it. */
interface MetricsCollector {
  what: 'metrics';
  setting: string;
  url: string;
  everyMs: number;
}

/** Returns undefined if metrics are not sent, such as when a port serves them. */
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

/** The SDK warns of each worker without workflows, such as the one for tools. */
const WITHOUT_WORKFLOWS = 'No workflows registered';

const NOT_EXPORTED = 'OTLP metric export failed';

/** During an outage the SDK warns of each retry of each call. */
const RETRIED = /^gRPC call \w+ retried/;

/** An export that hangs is given up after this long. */
const EXPORT_MS = 10_000;

/** Without a failure for this long, exports arrive. */
const quietAfter = (exportEveryMs: number): number => 2 * exportEveryMs + EXPORT_MS;

/**
 * Writes warnings and errors of Temporal's SDK to this process's log.
 *
 * @param collector the SDK warns of each failed export and says nothing of successful ones
 */
export function createSdkLog(
  logger: Pick<Logger, 'warn' | 'error'>,
  collector?: { lines: CollectorLines; quietMs: number },
): DefaultLogger {
  let backAfter: NodeJS.Timeout | undefined;

  function missed({ lines, quietMs }: NonNullable<typeof collector>, reason: unknown): void {
    lines.away(String(reason));
    clearTimeout(backAfter);
    backAfter = setTimeout(lines.back, quietMs).unref();
  }

  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (message.startsWith(WITHOUT_WORKFLOWS)) return;
    const { error: err, ...rest } = (meta ?? {}) as Record<string, unknown>;
    if (collector !== undefined && message.startsWith(NOT_EXPORTED)) {
      missed(collector, err);
      return;
    }
    if (RETRIED.test(message)) {
      const cause = new Error(String(err));
      const away = new HelixError('unavailable', 'The worker repeats its calls.', { cause });
      logger.warn({ err: away }, 'Temporal does not answer');
      return;
    }
    logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta: rest }, message);
  });
}
