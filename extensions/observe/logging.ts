import { createCollectorLines } from '../../config/collector-lines.js';
import { ConfigError, type Config } from '../../config/env.js';
import { createLogger, type Logger } from '../../config/logger.js';
import { orMissing } from '../../protocol/errors.js';
import type { Tracing } from './create-tracing.js';

const PACKAGES =
  '@opentelemetry/api@1 @opentelemetry/resources@2 @opentelemetry/sdk-trace-node@2 ' +
  '@opentelemetry/exporter-trace-otlp-http@0.223';

/**
 * Creates the log of a process, and its tracing if a collector is configured; log lines within a
 * trace then name it. Only then are OpenTelemetry's packages loaded.
 *
 * @throws MissingPackageError; ConfigError if `TRACE_REDACT` cannot be used
 */
export async function startLogging(
  config: Config,
  role: string,
): Promise<{ logger: Logger; tracing: Tracing | undefined }> {
  const started: { tracing?: Tracing } = {};
  const fields = (): object => started.tracing?.logFields() ?? {};
  const logger = createLogger({ name: role, level: config.LOG_LEVEL, fields });
  const setting =
    config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT === undefined
      ? 'OTEL_EXPORTER_OTLP_ENDPOINT'
      : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const at = config[setting];
  if (at === undefined || config.OTEL_SDK_DISABLED) return { logger, tracing: undefined };
  const { startTracing, loadRedact } = await import('./start-tracing.js').catch(
    orMissing(setting, PACKAGES),
  );
  const file = config.TRACE_REDACT;
  const redact = file === undefined ? undefined : await loadRedact(file).catch(toRedactFault(file));
  const latest = config.OTEL_SEMCONV_STABILITY_OPT_IN?.includes('gen_ai_latest_experimental');
  const tracing = startTracing({
    role,
    captureContent: config.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
    latestNames: latest === true,
    traceUrl: config.TRACE_URL_TEMPLATE,
    exportEveryMs: config.OTEL_BSP_SCHEDULE_DELAY,
    redact,
    collector: createCollectorLines(logger, { what: 'spans', setting, url: at }),
    logger,
  });
  started.tracing = tracing;
  return { logger, tracing };
}

function toRedactFault(file: string): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new ConfigError(`TRACE_REDACT: ${file} cannot be used: ${reason}`);
  };
}
