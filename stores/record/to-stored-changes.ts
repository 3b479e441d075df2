import type { StagedChanges } from '../contract/staging.js';
import { toStoredJson } from './to-stored-json.js';

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
