import type { JSONPatchOperation } from '../../protocol/chunk.js';

/** The reason why an operation does not fit. */
export type PatchFault = 'malformed' | 'missing' | 'unequal';

/** A JSON value that may be replaced as a whole. */
export interface Patched {
  value: unknown;
}

/**
 * Applies operations of RFC 6902 in order, up to the first one that does not fit. Packages for this either follow
 * pointers into inherited properties, so that `/toString/call` changes it for the whole process, or refuse names like
 * `constructor`, which a state may have.
 */
export function applyPatch(
  document: Patched,
  operations: readonly JSONPatchOperation[],
): PatchFault | undefined {
  for (const operation of operations) {
    const fault = apply(document, operation);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the names in a JSON pointer; undefined for a malformed one. */
export function parsePointer(pointer: string): string[] | undefined {
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

/** Copies a value, since the caller's values must not become part of the document. */
function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
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

/**
 * Returns an own property of a JSON value. A model may choose names such as `__proto__` and `constructor`, which are
 * ordinary here; inherited properties do not count.
 */
export function getOwn(from: object, name: string): unknown {
  return Object.hasOwn(from, name) ? (from as Record<string, unknown>)[name] : undefined;
}

export function setOwn(on: object, name: string, value: unknown): void {
  if (name !== '__proto__') {
    (on as Record<string, unknown>)[name] = value;
    return;
  }
  const open = { configurable: true, enumerable: true, writable: true };
  Object.defineProperty(on, name, { value, ...open });
}
