import { DefaultLogger } from '@temporalio/worker';
import type { CollectorLines } from '../config/collector-lines.js';
import type { Logger } from '../config/logger.js';

/** The SDK warns of each worker that executes activities only, as the one for tools does. */
const WITHOUT_WORKFLOWS = 'No workflows registered';
const NOT_EXPORTED = 'OTLP metric export failed';
/** An export that hangs is given up after this long. */
const EXPORT_MS = 10_000;

/** Without a failure for this long, exports arrive. */
export const quietAfter = (exportEveryMs: number): number => 2 * exportEveryMs + EXPORT_MS;

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
