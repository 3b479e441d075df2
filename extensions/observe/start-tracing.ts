import { resolve } from 'node:path';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { createJiti } from 'jiti';
import { withTimeout } from '../../protocol/time.js';
import { createTracing, type Tracing, type TracingOptions } from './create-tracing.js';

export interface TracingSettings {
  /** `api` or `worker`. */
  role: string;
  captureContent: boolean;
  latestNames: boolean;
  traceUrl: string | undefined;
  exportEveryMs: number | undefined;
  redact?: TracingOptions['redact'] | undefined;
  /** Gets the outcome of each export. */
  collector: { away: (reason: string) => void; back: () => void };
  logger: { warn: (fields: object, message: string) => void };
}

/** Spans wait only this long for export, ms, since a process that dies loses them. */
const EXPORT_EVERY_MS = 500;
/** Other warnings of OpenTelemetry are reported once per this time, ms. */
const REPORT_EVERY_MS = 60_000;
const CLOSE_MS = 2_000;
/** `ExportResultCode.SUCCESS`, whose package is no peer dependency. */
const TAKEN = 0;

/**
 * Reports failures to the collector's lines only: OpenTelemetry would log each with its stack
 * trace. Spans of a failed export are dropped either way.
 */
function reported(exporter: SpanExporter, collector: TracingSettings['collector']): SpanExporter {
  return {
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }: { code: number; error?: Error }) => {
        if (code === TAKEN) collector.back();
        else collector.away(error?.message ?? 'the export failed');
        done({ code: TAKEN });
      }),
  };
}

/** Exports traces to the collector that OpenTelemetry's own variables name. */
export function startTracing(settings: TracingSettings): Tracing {
  const { role, collector, logger } = settings;
  let reportedAt = -REPORT_EVERY_MS;
  const report = (message: string): void => {
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    logger.warn({ cause: message.slice(0, 500) }, 'traces: a warning of OpenTelemetry');
  };
  const quiet = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.WARN,
  );
  const { exportEveryMs: scheduledDelayMillis = EXPORT_EVERY_MS } = settings;
  const exporter = reported(new OTLPTraceExporter(), collector);
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis });
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

/** Loads the export `redact` of a file. @throws Error if the file exports no such function */
export async function loadRedact(file: string): Promise<NonNullable<TracingOptions['redact']>> {
  const jiti = createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  const { redact } = await jiti.import<{ redact?: unknown }>(resolve(file));
  if (typeof redact !== 'function') throw new Error('it exports no function of the name redact');
  return redact as NonNullable<TracingOptions['redact']>;
}
