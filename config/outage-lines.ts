import pino from 'pino';
import type { LoggerOptions } from 'pino';
import { HelixError } from '../protocol/errors.js';
import { STORE_UNREACHABLE } from '../protocol/temporal-names.js';

/** The same line is written this often; those in between are counted. */
const REPEAT_MS = 60_000;
/** Different lines that are remembered. */
const MOST = 200;

interface Seen {
  at: number;
  repeated: number;
}

/**
 * Log lines about a server that is away or refuses this process: a sentence each, and not one for
 * every command that fails, of each tenant. A stack trace would say nothing of a server.
 *
 * @param now ms, of any clock
 */
export function outageLines(
  now: () => number = () => performance.now(),
): Pick<LoggerOptions, 'serializers' | 'hooks'> {
  const seen = new Map<string, Seen>();

  /** How often the line was left out since it was last written; undefined if it is left out now. */
  function take(line: string): number | undefined {
    const before = seen.get(line);
    if (before !== undefined && now() - before.at < REPEAT_MS) {
      before.repeated += 1;
      return undefined;
    }
    seen.delete(line);
    if (seen.size >= MOST) seen.delete(seen.keys().next().value ?? '');
    seen.set(line, { at: now(), repeated: 0 });
    return before?.repeated ?? 0;
  }

  return {
    serializers: { err: (error: unknown) => toLine(error) },
    hooks: {
      logMethod(args, write, level) {
        const [fields, message] = args as [unknown, unknown];
        const { err: error, tenant } = (fields ?? {}) as { err?: unknown; tenant?: unknown };
        if (isOutage(error)) {
          const repeated = take(JSON.stringify([level, message, error.message, tenant]));
          if (repeated === undefined) return;
          if (repeated > 0) Object.assign(args, [{ ...(fields as object), repeated }]);
        }
        write.apply(this, args);
      },
    },
  };
}

function isOutage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'unavailable' || codeOf(error) === STORE_UNREACHABLE;
}

/** Of an error of this project, or of an attempt's failure that Temporal takes. */
function codeOf(error: Error): unknown {
  if (HelixError.isInstance(error)) return error.code;
  return error.name === 'ApplicationFailure' && 'type' in error ? error.type : undefined;
}

function toLine(error: unknown): unknown {
  if (!isOutage(error)) return error instanceof Error ? pino.stdSerializers.err(error) : error;
  const { message, cause } = error;
  const reason = cause instanceof Error ? cause.message : undefined;
  return { code: codeOf(error), message, ...(reason !== undefined && { reason }) };
}
