import { toStoredJson } from '../../stores/record/to-stored-json.js';

/** What a provider said, if it can be stored: undefined for what is no JSON, or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined) return undefined;
  try {
    toStoredJson(value);
    return value;
  } catch {
    return undefined;
  }
}
