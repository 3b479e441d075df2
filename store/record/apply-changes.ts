import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { hasCode, HelixError } from '../../protocol/errors.js';
import { isValueDeeperThan, LIMITS } from '../../protocol/limits.js';
import type { CustomState, StagedChanges } from '../contract/documents.js';

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

/** Checks the result: repeated copies of lists into lists may nest it too deeply. */
function faultOf(state: unknown): 'no_object' | 'too_deep' | undefined {
  if (typeof state !== 'object' || state === null || Array.isArray(state)) return 'no_object';
  return isValueDeeperThan(LIMITS.jsonDepth, state) ? 'too_deep' : undefined;
}

/** Merges changes of concurrent calls. Later ones win; none is lost because an earlier one moved its target. Pure. */
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
    if (hasCode(error, 'invalid_patch')) return undefined;
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
  const next = copyOf(state);
  let at: Container = next;
  for (const token of tokens) {
    let inner = getOwn(at, token);
    if (typeof inner !== 'object' || inner === null) {
      inner = {};
      setAt(at, token, inner);
    }
    at = inner as Container;
  }
  setAt(at, last, copyOf(value));
  return isValueDeeperThan(LIMITS.jsonDepth, next) ? state : next;
}

/** Sets a value; an index beyond a list's end appends. */
function setAt(at: Container, token: string, value: unknown): void {
  if (!Array.isArray(at)) setOwn(at, token, value);
  else if (/^\d+$/.test(token) && Number(token) < at.length) at[Number(token)] = value;
  else at.push(value);
}

/** The reason why an operation does not fit. */
export type PatchFault = 'malformed' | 'missing' | 'unequal';

/** A JSON value that may be replaced as a whole. */
interface Patched {
  value: unknown;
}

/**
 * Applies operations of RFC 6902 in order, up to the first one that does not fit. Packages for this either follow
 * pointers into inherited properties, so that `/toString/call` changes it for the whole process, or refuse names like
 * `constructor`, which a state may have.
 */
export function applyPatch(document: Patched, operations: readonly JSONPatchOperation[]) {
  for (const operation of operations) {
    const fault = apply(document, operation);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the names in a JSON pointer; undefined for a malformed one. */
function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function apply(document: Patched, operation: JSONPatchOperation): PatchFault | undefined {
  const { op, value } = operation;
  const path = parsePointer(operation.path);
  if (path === undefined) return 'malformed';
  switch (op) {
    case 'remove':
      return take(document, path) === undefined ? 'missing' : undefined;
    case 'move':
    case 'copy': {
      const from = parsePointer(operation.from ?? 'none');
      if (from === undefined) return 'malformed';
      const isInside = path.length > from.length && from.every((name, at) => name === path[at]);
      if (op === 'move' && isInside) return 'malformed';
      const found = op === 'move' ? take(document, from) : read(document, from);
      return found === undefined ? 'missing' : add(document, path, found);
    }
    default:
  }
  if (value === undefined) return 'malformed';
  if (op === 'add') return add(document, path, value);
  const found = read(document, path);
  if (found === undefined) return 'missing';
  if (op === 'test') return isEqual(found, value) ? undefined : 'unequal';
  put(document, path, value);
  return undefined;
}

/** Returns undefined if the value is missing; no JSON value is undefined. */
function read(document: Patched, path: readonly string[]): unknown {
  let found = document.value;
  for (const name of path) {
    if (!isContainer(found)) return undefined;
    if (Array.isArray(found) && !isIndex(name)) return undefined;
    found = getOwn(found, name);
  }
  return found;
}

function add(document: Patched, path: readonly string[], value: unknown): PatchFault | undefined {
  const at = read(document, path.slice(0, -1));
  const name = path.at(-1);
  if (name !== undefined && !isContainer(at)) return 'missing';
  if (name === undefined || !Array.isArray(at)) {
    put(document, path, value);
    return undefined;
  }
  const index = name === '-' ? at.length : Number(name);
  if (name !== '-' && !(isIndex(name) && index <= at.length)) return 'missing';
  at.splice(index, 0, copyOf(value));
  return undefined;
}

/** Removes and returns a value. */
function take(document: Patched, path: readonly string[]): unknown {
  const found = read(document, path);
  const name = path.at(-1);
  if (found === undefined || name === undefined) return undefined;
  const at = read(document, path.slice(0, -1)) as object;
  if (Array.isArray(at)) at.splice(Number(name), 1);
  else Reflect.deleteProperty(at, name);
  return found;
}

/** Sets a value in an existing container, replacing the old one. */
function put(document: Patched, path: readonly string[], value: unknown): void {
  const name = path.at(-1);
  const copy = copyOf(value);
  if (name === undefined) document.value = copy;
  else setOwn(read(document, path.slice(0, -1)) as object, name, copy);
}

/** Copies a JSON value, since the caller's values must not become part of the document. */
function copyOf<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

function isEqual(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b)) return a === b;
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(getOwn(a, name), getOwn(b, name)))
  );
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(name);
}

/** Returns an own property: a model may choose names such as `__proto__`, and inherited properties do not count. */
function getOwn(from: object, name: string): unknown {
  return Object.hasOwn(from, name) ? (from as Record<string, unknown>)[name] : undefined;
}

function setOwn(on: object, name: string, value: unknown): void {
  if (name !== '__proto__') {
    (on as Record<string, unknown>)[name] = value;
    return;
  }
  const open = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(on, name, { value, ...open });
}
