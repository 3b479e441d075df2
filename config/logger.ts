import pino from 'pino';
import type { Logger } from 'pino';

export type { Logger };

/** A logger that writes one JSON object per line to stdout. Errors are logged under the key `err`. */
export function createLogger(options: { name: string; level: string }): Logger {
  return pino({ name: options.name, level: options.level });
}
