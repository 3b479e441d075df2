import { CJSON_NULL } from './cjson-null.js';
import { formatJsonNumber } from './format.js';

const MAX_DEPTH = 1000;
/** An array that has holes may be so long, or twice as long as it has elements. */
const SPARSE_LENGTH = 10;

/** cjson.encode(). Undefined and null are nil to Lua: fields that hold them are not there. */
export function encode(value: unknown): string {
  return encodeValue(value, 0);
}

function encodeValue(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'number':
      if (!Number.isFinite(value)) throw notSerialisable('number', 'must not be NaN or Inf');
      return formatJsonNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return 'null';
    case 'object':
      return value === null ? 'null' : encodeTable(value, depth + 1);
    case 'symbol':
      if (value === CJSON_NULL) return 'null';
      break;
    case 'bigint':
    case 'function':
  }
  throw notSerialisable(typeof value, 'type not supported');
}

function encodeTable(table: object, depth: number): string {
  if (depth > MAX_DEPTH) {
    throw new Error(`Cannot serialise, excessive nesting (${String(depth)})`);
  }
  return Array.isArray(table) ? encodeArray(table, depth) : encodeObject(table, depth);
}

function encodeArray(array: readonly unknown[], depth: number): string {
  const length = array.findLastIndex(isThere) + 1;
  // Lua has one kind of table: nobody can tell an empty array from an empty object.
  if (length === 0) return '{}';
  if (length > SPARSE_LENGTH && length > 2 * array.filter(isThere).length) {
    throw notSerialisable('table', 'excessively sparse array');
  }
  let text = '[';
  for (let i = 0; i < length; i += 1) {
    if (i > 0) text += ',';
    text += encodeValue(array[i], depth);
  }
  return `${text}]`;
}

function encodeObject(object: object, depth: number): string {
  let text = '{';
  for (const key of Object.keys(object)) {
    const value = (object as Record<string, unknown>)[key];
    if (!isThere(value)) continue;
    if (text.length > 1) text += ',';
    text += `${encodeString(key)}:${encodeValue(value, depth)}`;
  }
  return `${text}}`;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** As JavaScript escapes strings, and two characters more. */
function encodeString(text: string): string {
  const escaped = JSON.stringify(text);
  if (!escaped.includes('/') && !escaped.includes('\x7f')) return escaped;
  return escaped.replaceAll('/', '\\/').replaceAll('\x7f', '\\u007f');
}

function notSerialisable(type: string, reason: string): Error {
  return new Error(`Cannot serialise ${type}: ${reason}`);
}
