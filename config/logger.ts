import pino from 'pino';
import type { Logger } from 'pino';
import { outageLines } from './outage-lines.js';

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
