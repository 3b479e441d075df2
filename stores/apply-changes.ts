import { applyPatch, type Operation } from 'rfc6902';
import { HelixError } from '../protocol/errors.js';
import type { CustomState, StagedChanges } from './session-state.js';

/**
 * The state that changes lead to, in their order, all or none. Pure.
 *
 * @throws HelixError `invalid_patch` if an operation does not fit, or the result is no object
 */
export function applyChanges(before: CustomState, changes: readonly StagedChanges[]): CustomState {
  const root = { state: structuredClone(before) as unknown };
  for (const { toolCallId, mergeChanges, patches } of changes) {
    if (mergeChanges !== undefined) Object.assign(root.state as CustomState, mergeChanges);
    // A pointer to the root itself is one to `state` here, which may be replaced as a whole.
    const within = patches.map((patch) => ({
      ...patch,
      path: `/state${patch.path}`,
      ...(patch.from !== undefined && { from: `/state${patch.from}` }),
    }));
    const failure = failureOf(() => applyPatch(root, structuredClone(within) as Operation[]));
    if (failure !== undefined || !isObject(root.state)) {
      throw new HelixError('invalid_patch', 'The state could not be changed as asked.', {
        detail: { toolCallId, reason: failure?.name ?? 'NoObjectError' },
        cause: failure,
      });
    }
  }
  return root.state as CustomState;
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
