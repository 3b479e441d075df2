import { applyPatch, type Operation } from 'rfc6902';
import type { JsonPatchOperation } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import type { CustomState } from '../contract/custom-state.js';
import type { StagedChanges } from '../contract/staging.js';

/**
 * The state that changes lead to, in their order, all or none. Pure.
 *
 * @throws HelixError `invalid_patch` if an operation does not fit, or the result is no object
 */
export function applyChanges(before: CustomState, changes: readonly StagedChanges[]): CustomState {
  const root = { state: copyOf(before) as unknown };
  for (const { toolCallId, mergeChanges, patches } of changes) {
    if (mergeChanges !== undefined) Object.assign(root.state as CustomState, copyOf(mergeChanges));
    const failure = failureOf(() => applyPatch(root, patches.map(withinState) as Operation[]));
    if (failure !== undefined || !isObject(root.state)) {
      throw new HelixError('invalid_patch', 'The state could not be changed as asked.', {
        detail: { toolCallId, reason: failure?.name ?? 'NoObjectError' },
        cause: failure,
      });
    }
  }
  return root.state as CustomState;
}

/** What is changed may not be the caller's. A state is JSON, so this loses nothing. */
function copyOf(state: CustomState): CustomState {
  return JSON.parse(JSON.stringify(state)) as CustomState;
}

/** A pointer to the root itself is one to `state` here, which may be replaced as a whole. */
function withinState(patch: JsonPatchOperation): JsonPatchOperation {
  const { path, from } = patch;
  return { ...patch, path: inState(path), ...(from !== undefined && { from: inState(from) }) };
}

function inState(pointer: string): string {
  if (pointer !== '' && !pointer.startsWith('/')) throw new TypeError('no JSON pointer');
  return `/state${pointer}`;
}

/** The first operation that did not fit; a malformed pointer throws instead. */
function failureOf(apply: () => (Error | null)[]): Error | undefined {
  try {
    return apply().find((error) => error !== null) ?? undefined;
  } catch (error) {
    return error as Error;
  }
}

function isObject(value: unknown): value is CustomState {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
