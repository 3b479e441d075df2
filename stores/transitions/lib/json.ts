import { formatInt } from './host.js';

/** A whole number as JSON. */
export function int(value: number): string {
  return formatInt(value);
}
