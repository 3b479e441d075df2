/** The value of JSON null: a unique value, because nil would drop the field. */
export const CJSON_NULL: unique symbol = Symbol('cjson.null');

const MAX_DEPTH = 1000;

/**
 * cjson.decode() for text written by JSON.stringify(); other text that cjson accepts is refused.
 */
export function decode(json: string): unknown {
  return toLua(JSON.parse(json), 0);
}

/** Applies cjson's limits to a freshly parsed value. */
function toLua(value: unknown, depth: number): unknown {
  if (value === null) return CJSON_NULL;
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object') return value;
  if (depth === MAX_DEPTH) {
    throw new Error(`Found too many nested data structures (${String(depth + 1)})`);
  }
  const table = value as Record<string, unknown>;
  for (const key of Object.keys(table)) table[wellFormed(key)] = toLua(table[key], depth + 1);
  return table;
}

/** A lone surrogate cannot be encoded in UTF-8. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new Error('Expected value but found invalid unicode escape code');
}

/** cjson.encode() of a string: JavaScript's escapes and two more. */
export function encode(text: string): string {
  return JSON.stringify(text).replaceAll('/', '\\/').replaceAll('\x7f', '\\u007f');
}
