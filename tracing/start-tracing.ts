import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { withTimeout } from '../protocol/time.js';
import { createTracing, type Tracing, type TracingOptions } from './create-tracing.js';

export { loadRedact } from './load-redact.js';

export interface TracingSettings {
  /** `api` or `worker`. */
  role: string;
  captureContent: boolean;
  latestNames: boolean;
  traceUrl: string | undefined;
  exportEveryMs: number | undefined;
  redact?: TracingOptions['redact'] | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

/** Spans that a process which dies has not exported are lost: they wait only this long. */
const EXPORT_EVERY_MS = 500;
/** A collector that is away is reported this often. */
const REPORT_EVERY_MS = 60_000;
const CLOSE_MS = 2_000;

/** Exports traces to the collector that OpenTelemetry's own variables name. */
export function startTracing(settings: TracingSettings): Tracing {
  const { role, logger } = settings;
  let reportedAt = -REPORT_EVERY_MS;
  const report = (message: string): void => {
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    logger.warn({ cause: message.slice(0, 500) }, 'the collector does not take spans');
  };
  const quiet = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.WARN,
  );
  const { exportEveryMs: scheduledDelayMillis = EXPORT_EVERY_MS } = settings;
  const processor = new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis });
  const named = resourceFromAttributes({ 'service.name': `helix-temporal-${role}` });
  const tracing = createTracing({
    spanProcessors: [processor],
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    ...settings,
  });
  tracing.register();
  return {
    ...tracing,
    close: () => withTimeout(CLOSE_MS, tracing.close()).catch(() => undefined),
  };
}
