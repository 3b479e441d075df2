import pino, { type Logger, type LoggerOptions } from 'pino';
import { HelixError } from '../protocol/errors.js';
import { STORE_UNREACHABLE } from '../protocol/temporal.js';

export type { Logger };

/**
 * A logger that writes one JSON object per line to stdout. Errors are logged under the key `err`.
 *
 * @param options.fields of each line, read as it is written
 */
export function createLogger(options: {
  name: string;
  level: string;
  fields: () => object;
}): Logger {
  const { name, level, fields } = options;
  return pino({ name, level, mixin: fields, ...outageLines() });
}

/** A repeated line is written once in this time, ms; those in between are counted. */
const REPEAT_MS = 60_000;
/** Most distinct lines to remember. */
const MAX = 200;

interface Seen {
  at: number;
  repeated: number;
}

/**
 * Creates pino options for outages: a server that is away or refuses this process gets one sentence
 * a minute for each tenant, without a stack trace, instead of a line for every failed command.
 *
 * @param now ms, of any clock
 */
export function outageLines(
  now: () => number = () => performance.now(),
): Pick<LoggerOptions, 'serializers' | 'hooks'> {
  const seen = new Map<string, Seen>();

  /** Returns the repeats since the line was last written; undefined if it is left out now. */
  function take(line: string): number | undefined {
    const before = seen.get(line);
    if (before !== undefined && now() - before.at < REPEAT_MS) {
      before.repeated += 1;
      return undefined;
    }
    seen.delete(line);
    if (seen.size >= MAX) seen.delete(seen.keys().next().value ?? '');
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

/** Returns the code of a HelixError, or the type of an ApplicationFailure. */
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
