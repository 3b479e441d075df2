/**
 * Properties of JSON values. A model may choose the names of some: `__proto__` and `constructor` are
 * names like any other, and what every object inherits is nothing that a value has.
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
