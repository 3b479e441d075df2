import { cjson, formatInt } from './host.js';

/**
 * Builds JSON by splicing. User and model content is inserted as the text in which it arrived,
 * because decoding and encoding it again would lose empty lists and long digits.
 */

/** A field that follows others: `,"name":json`; '' if the JSON text is ''. */
export function field(name: string, json: string | undefined): string {
  return json === undefined || json === '' ? '' : `,"${name}":${json}`;
}

/** A string as JSON. */
export function text(value: string): string {
  return cjson.encode(value);
}

/** A string as JSON; '' if absent. */
export function optional(value: string | undefined): string {
  return value === undefined ? '' : cjson.encode(value);
}

/** A string as JSON; `null` if absent. */
export function nullable(value: string | undefined): string {
  return value === undefined ? 'null' : cjson.encode(value);
}

/** A whole number as JSON. */
export function int(value: number): string {
  return formatInt(value);
}

/** A stored whole number as JSON; 0 if absent. */
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

/** An encoded object with a field added at its end. */
export function withField(encoded: string, name: string, json: string | undefined): string {
  return json === undefined || json === '' ? encoded : `${encoded.slice(0, -1)},"${name}":${json}}`;
}
