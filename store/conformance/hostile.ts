import { LIMITS } from '../../protocol/limits.js';

/** Values and names that stores are known to lose, alter or fail on. */

/** Half of a surrogate pair: models and tools may cut text anywhere. */
export const HALF = '\ud83d';

/** Names of properties that every object inherits. */
export const INHERITED = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString'];

export function nested(depth: number): Record<string, unknown> {
  return JSON.parse('{"a":'.repeat(depth) + '[]' + '}'.repeat(depth)) as Record<string, unknown>;
}

export const TOO_DEEP = nested(LIMITS.jsonDepth);

/** Values that a Lua encoder alters. */
export const EXACT = {
  items: [],
  none: {},
  within: [[], {}, [[]]],
  amount: 1234567890123456,
  rate: 0.12345678901234568,
  max: Number.MAX_SAFE_INTEGER,
  beyond: 2 ** 53 + 2,
  long: 123456789012345680000,
  tiny: 5e-324,
  empty: '',
  escaped: '/ \u007f \u2028 \u0000 \\ud83d "',
  ...Object.fromEntries(INHERITED.map((name) => [name, []])),
};

/** Returns a value as a store reads it back: as JSON, without lone surrogates. */
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

/** Returns a pointer to a property of the state. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Names that resemble something else or break the splitting of texts. Ids of calls come from models. */
export const ODD = [
  ...INHERITED,
  ' ',
  'a b',
  'a:b',
  '::',
  'a/b',
  '{a}',
  'a\nb',
  '\r\n',
  '"quoted"',
  '\\n',
  '\u0000',
  '\u2028',
  '%2F',
  '*',
  '0',
  'n',
  'told',
  'model',
  'state:a',
  't:a',
  'm1',
  'msg-1',
  'late-a',
  's-1:1-abc',
  'cpv1-a-s1-b',
  `half ${HALF}`,
  'x'.repeat(256),
  '\u0001'.repeat(256),
  '🙂'.repeat(128),
];

/** Returns a name as a store reads it back. */
export const whole = (name: string): string => name.toWellFormed();
