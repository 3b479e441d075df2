import { findJsonFault } from '../../protocol/json-depth.js';

/** What a provider said, if it can be stored: undefined for what is no JSON, or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined || findJsonFault(value) !== undefined) return undefined;
  return value;
}
