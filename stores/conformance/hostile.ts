import { LIMITS } from '../../protocol/limits.js';

/** Values and names that stores have been seen to lose, change or fall over. */

/** Half of a surrogate pair: models and tools cut text anywhere. */
export const HALF = '\ud83d';

/** Names that every object has, or inherits. */
export const INHERITED = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'];

export function nested(depth: number): Record<string, unknown> {
  return JSON.parse('{"a":'.repeat(depth) + '[]' + '}'.repeat(depth)) as Record<string, unknown>;
}

/** As deep as may be; the innermost is an empty list. */
export const DEEP = nested(LIMITS.jsonDepth - 1);
export const TOO_DEEP = nested(LIMITS.jsonDepth);

/** What an encoder of Lua makes something else of. */
export const EXACT = {
  items: [],
  none: {},
  within: [[], {}, [[]]],
  amount: 1234567890123456,
  rate: 0.12345678901234568,
  most: Number.MAX_SAFE_INTEGER,
  beyond: 2 ** 53 + 2,
  long: 123456789012345680000,
  tiny: 5e-324,
  empty: '',
  escaped: '/ \u007f \u2028 \u0000 \\ud83d "',
  ...Object.fromEntries(INHERITED.map((name) => [name, []])),
};

/** A value as it comes back: as JSON has it, in whole characters. */
export function asStored<T>(value: T): T {
  return toWhole(JSON.parse(JSON.stringify(value))) as T;
}

function toWhole(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toWhole);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.toWellFormed(), toWhole(inner)]),
  );
}

/** A pointer to a property of the state. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
