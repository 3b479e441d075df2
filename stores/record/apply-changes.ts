import { HelixError } from '../../protocol/errors.js';
import { isValueDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CustomState } from '../contract/custom-state.js';
import type { StagedChanges } from '../contract/staging.js';
import { applyPatch, type Patched } from './apply-patch.js';
import { setOwn } from './own-property.js';

/**
 * The state that changes lead to, in their order, all or none. Pure.
 *
 * @throws HelixError `invalid_patch` if an operation does not fit, or the result is no state
 */
export function applyChanges(before: CustomState, changes: readonly StagedChanges[]): CustomState {
  const document: Patched = { value: copyOf(before) };
  for (const { toolCallId, mergeChanges = {}, patches } of changes) {
    for (const [name, value] of Object.entries(copyOf(mergeChanges))) {
      setOwn(document.value as CustomState, name, value);
    }
    const failure = applyPatch(document, patches);
    const fault = faultOf(document.value);
    if (failure !== undefined || fault !== undefined) {
      throw new HelixError('invalid_patch', 'The state could not be changed as asked.', {
        detail: { toolCallId, reason: failure ?? fault },
      });
    }
  }
  return document.value as CustomState;
}

/** What is changed may not be the caller's. A state is JSON, so this loses nothing. */
function copyOf(state: CustomState): CustomState {
  return JSON.parse(JSON.stringify(state)) as CustomState;
}

/** A list may be copied into a list, and that again. */
function faultOf(state: unknown): 'no_object' | 'too_deep' | undefined {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return 'no_object';
  return isValueDeeperThan(LIMITS.jsonDepth, state) ? 'too_deep' : undefined;
}
