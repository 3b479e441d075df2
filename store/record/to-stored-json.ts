import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import { isDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StagedChanges } from '../contract/staging.js';

/** Half of a surrogate pair, as JSON.stringify writes it; a backslash before it is no escape's. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

interface StoredJsonOptions {
  /** Arrays and objects around the user's value; they do not count towards the limit. */
  around?: number;
  /** Code of the refusal of a value that cannot be stored. */
  code?: ErrorCode;
}

/**
 * A value as the JSON text that is stored. Half characters, of models and tools that cut text
 * anywhere, become U+FFFD: Redis' JSON reader refuses them, and would block the session. It refuses
 * deep nesting as well, so deep values are refused here, before anything is written.
 *
 * @throws HelixError `validation_error` for what JSON cannot express, or what is too deep
 */
export function toStoredJson(
  value: unknown,
  { around = 0, code = 'validation_error' }: StoredJsonOptions = {},
): string {
  const json = stringify(value, code);
  if (isDeeperThan(LIMITS.jsonDepth + around, json)) {
    throw new HelixError(code, 'A value is nested too deeply to be stored.', {
      detail: { limit: LIMITS.jsonDepth },
    });
  }
  return json.includes('\\ud') ? json.replace(LONE_SURROGATE, '$1\\ufffd') : json;
}

function stringify(value: unknown, code: ErrorCode): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    // Cycles, BigInt, a toJSON that throws, and what is far too deep for the engine.
    cause = error;
  }
  if (json !== undefined) return json;
  throw new HelixError(code, 'A value cannot be written as JSON.', { cause });
}

/**
 * Changes of a call as they are staged.
 *
 * @throws HelixError `validation_error`, see toStoredJson
 */
export function toStoredChanges(changes: StagedChanges): string {
  // What is merged becomes part of the state as it is; a value lies within its patch.
  if (changes.mergeChanges !== undefined) toStoredJson(changes.mergeChanges);
  return toStoredJson(changes, { around: 3 });
}
