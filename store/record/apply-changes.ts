import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { isValueDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CustomState, StagedChanges } from '../contract/documents.js';
import { applyPatch, getOwn, parsePointer, setOwn, type Patched } from './apply-patch.js';

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

/**
 * The state that calls' changes lead to when they ran side by side: the later one's word counts, and
 * none is lost because an earlier one moved or removed what it was about. Pure.
 */
export function fitChanges(before: CustomState, changes: readonly StagedChanges[]): CustomState {
  return changes.reduce((state, change) => {
    const { mergeChanges: _merged, ...rest } = change;
    return (
      tryApply(state, change) ??
      change.patches.reduce(
        (fitted, patch) => tryApply(fitted, { ...rest, patches: [patch] }) ?? force(fitted, patch),
        tryApply(state, { ...change, patches: [] }) ?? state,
      )
    );
  }, before);
}

function tryApply(state: CustomState, change: StagedChanges): CustomState | undefined {
  try {
    return applyChanges(state, [change]);
  } catch (error) {
    if (HelixError.isInstance(error) && error.code === 'invalid_patch') return undefined;
    throw error;
  }
}

type Container = Record<string, unknown> | unknown[];

/** Puts a value where the pointer says, with whatever is missing on the way. What is to go is gone. */
function force(state: CustomState, { op, path, value }: JSONPatchOperation): CustomState {
  const tokens = parsePointer(path) ?? [];
  const last = tokens.pop();
  const isWritten = op === 'add' || op === 'replace';
  if (!isWritten || last === undefined || value === undefined) return state;
  const next = structuredClone(state);
  let at: Container = next;
  for (const token of tokens) {
    let inner = getOwn(at, token);
    if (typeof inner !== 'object' || inner === null) {
      inner = {};
      put(at, token, inner);
    }
    at = inner as Container;
  }
  put(at, last, structuredClone(value));
  return isValueDeeperThan(LIMITS.jsonDepth, next) ? state : next;
}

/** Beyond the end of a list is its end. */
function put(at: Container, token: string, value: unknown): void {
  if (!Array.isArray(at)) setOwn(at, token, value);
  else if (/^\d+$/.test(token) && Number(token) < at.length) at[Number(token)] = value;
  else at.push(value);
}
