import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { isValueDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CustomState, StagedChanges } from '../contract/documents.js';
import { applyPatch, getOwn, parsePointer, setOwn, type Patched } from './apply-patch.js';

/**
 * Applies changes to a state, in order, all or none. Pure.
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

/** Copies a state, so the caller's stays unchanged. A state is JSON, so nothing is lost. */
function copyOf(state: CustomState): CustomState {
  return JSON.parse(JSON.stringify(state)) as CustomState;
}

/** Checks the result: repeated copies of lists into lists may nest it too deeply. */
function faultOf(state: unknown): 'no_object' | 'too_deep' | undefined {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return 'no_object';
  return isValueDeeperThan(LIMITS.jsonDepth, state) ? 'too_deep' : undefined;
}

/**
 * Merges the changes of concurrent calls: later changes win, and none is lost because an earlier one moved or removed
 * its target. Pure.
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

/** Puts a value at the pointer, creating missing parents. A removal of a missing value does nothing. */
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

/** Sets a value; an index beyond a list's end appends. */
function put(at: Container, token: string, value: unknown): void {
  if (!Array.isArray(at)) setOwn(at, token, value);
  else if (/^\d+$/.test(token) && Number(token) < at.length) at[Number(token)] = value;
  else at.push(value);
}
