import { cjson, formatInt } from './host.js';

/**
 * JSON by splicing: what people and models wrote goes in as the text that it came as, since a decoded
 * and encoded value loses empty lists and long digits.
 */

/** A field behind others: `,"name":json`; nothing for the JSON text ''. */
export function field(name: string, json: string | undefined): string {
  return json === undefined || json === '' ? '' : `,"${name}":${json}`;
}

/** A text as JSON. */
export function text(value: string): string {
  return cjson.encode(value);
}

/** A text as JSON; '' for an absent one. */
export function optional(value: string | undefined): string {
  return value === undefined ? '' : cjson.encode(value);
}

/** A text as JSON; `null` for an absent one. */
export function nullable(value: string | undefined): string {
  return value === undefined ? 'null' : cjson.encode(value);
}

/** A whole number as JSON. */
export function int(value: number): string {
  return formatInt(value);
}

/** A stored whole number as JSON; 0 for an absent one. */
export function stored(value: string | undefined): string {
  return value ?? '0';
}

export function list(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}

export function texts(values: readonly string[]): string {
  const items: string[] = [];
  for (const value of values) items.push(cjson.encode(value));
  return list(items);
}

/** An encoded object with a further field at its end. */
export function withField(encoded: string, name: string, json: string | undefined): string {
  return json === undefined || json === '' ? encoded : `${encoded.slice(0, -1)},"${name}":${json}}`;
}
