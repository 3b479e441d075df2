import type { MetricMeter } from '@temporalio/common';
import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker';
import { createCollectorLines, type CollectorLines } from '../../config/collector-lines.js';
import type { Config } from '../../config/env.js';
import type { Logger } from '../../config/logger.js';
import { isLoopback } from '../../config/loopback.js';
import { exportMetricsAt, exportMetricsTo, freeLoopbackAddress, metricsFrom } from './exporter.js';
import { withDots } from './with-dots.js';

/** How the metrics of a worker's process leave it. */
export interface WorkerMetrics {
  /** With the log of Temporal's SDK. */
  runtime: RuntimeOptions;
  /** Once the runtime is installed. Default: that of the runtime. */
  meter?: () => MetricMeter;
  /** Serves them at the port for operators, with the state of this process. Absent: there is no such port. */
  serve?: (
    checks: Readonly<Record<string, () => Promise<void>>>,
  ) => Promise<{ port: number; close: () => Promise<void> }>;
}

/** Metrics of a worker's process: served at a port, sent to a collector, or neither. */
export async function startWorkerMetrics(config: Config, logger: Logger): Promise<WorkerMetrics> {
  const at = config.WORKER_METRICS_PORT;
  const collector = readMetricsCollector(config);
  if (at !== undefined) {
    const address = await freeLoopbackAddress();
    return {
      runtime: {
        telemetryOptions: { metrics: exportMetricsAt(address) },
        logger: createSdkLog(logger),
      },
      serve: (checks) => serveMetrics(at, address, checks, logger),
    };
  }
  if (collector === undefined) {
    return { runtime: { telemetryOptions: {}, logger: createSdkLog(logger) } };
  }
  const { url, everyMs } = collector;
  const lines = createCollectorLines(logger, collector);
  return {
    runtime: {
      telemetryOptions: {
        metrics: exportMetricsTo(url, everyMs),
        // What the SDK's core says of the collector is otherwise printed as it is.
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      },
      logger: createSdkLog(logger, { lines, quietMs: quietAfter(everyMs) }),
    },
    meter: () => withDots(Runtime.instance().metricMeter),
  };
}

/** What Temporal's SDK exports on an address of its own, with the state of this process. */
async function serveMetrics(
  { host, port }: { host: string; port: number },
  address: string,
  checks: Parameters<NonNullable<WorkerMetrics['serve']>>[0],
  logger: Logger,
) {
  // The code of the API's guards is loaded only where it is needed.
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

/** Where a worker sends its metrics as OTLP, and which setting says so. */
interface MetricsCollector {
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

/** The SDK warns of each worker that executes activities only, as the one for tools does. */
const WITHOUT_WORKFLOWS = 'No workflows registered';

const NOT_EXPORTED = 'OTLP metric export failed';

/** An export that hangs is given up after this long. */
const EXPORT_MS = 10_000;

/** Without a failure for this long, exports arrive. */
const quietAfter = (exportEveryMs: number): number => 2 * exportEveryMs + EXPORT_MS;

/**
 * Warnings and errors of Temporal's SDK as lines of this process's log.
 *
 * @param collector where metrics are sent; the SDK warns at each export that fails, and says nothing of
 * those that arrive
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
    logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta: rest }, message);
  });
}
