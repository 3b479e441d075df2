import { CJSON_NULL } from './cjson-null.js';
import { CjsonTokens, type TokenType } from './cjson-tokens.js';

const MAX_DEPTH = 1000;

type Table = Record<string, unknown>;

/**
 * Objects without a prototype, as Lua's tables have none: `constructor` and `__proto__` are names
 * like any other. (Those of Object.create(null) would be the same, but slow.)
 */
const BareTable = function (): void {
  // It begins empty.
} as unknown as new () => Table;
(BareTable as unknown as { prototype: object }).prototype = Object.create(null) as object;

/** cjson.decode() of Redis 7.0: errors have its texts, with places in bytes. */
export function decode(json: string): unknown {
  if (json.length > 1 && (json.startsWith('\0') || isNulBehindAscii(json))) {
    throw new Error('JSON parser does not support UTF-16 or UTF-32');
  }
  const tokens = new CjsonTokens(json);
  const value = decodeValue(tokens, tokens.next(), 0);
  if (tokens.next() !== 'T_END') throw tokens.unexpected('the end');
  return value;
}

/** Whether the second byte is a NUL. */
function isNulBehindAscii(json: string): boolean {
  return json.charCodeAt(1) === 0 && json.charCodeAt(0) < 128;
}

function decodeValue(tokens: CjsonTokens, type: TokenType, depth: number): unknown {
  switch (type) {
    case 'T_STRING':
    case 'T_NUMBER':
    case 'T_BOOLEAN':
      return tokens.value;
    case 'T_NULL':
      return CJSON_NULL;
    case 'T_OBJ_BEGIN':
      return decodeObject(tokens, descend(tokens, depth));
    case 'T_ARR_BEGIN':
      return decodeArray(tokens, descend(tokens, depth));
    default:
      throw tokens.unexpected('value');
  }
}

function descend(tokens: CjsonTokens, depth: number): number {
  if (depth < MAX_DEPTH) return depth + 1;
  const place = String(tokens.bytesRead());
  throw new Error(
    `Found too many nested data structures (${String(depth + 1)}) at character ${place}`,
  );
}

function decodeObject(tokens: CjsonTokens, depth: number): Table {
  const table = new BareTable();
  let type = tokens.next();
  if (type === 'T_OBJ_END') return table;
  for (;;) {
    if (type !== 'T_STRING') throw tokens.unexpected('object key string');
    const key = tokens.value as string;
    if (tokens.next() !== 'T_COLON') throw tokens.unexpected('colon');
    table[key] = decodeValue(tokens, tokens.next(), depth);
    type = tokens.next();
    if (type === 'T_OBJ_END') return table;
    if (type !== 'T_COMMA') throw tokens.unexpected('comma or object end');
    type = tokens.next();
  }
}

function decodeArray(tokens: CjsonTokens, depth: number): unknown[] {
  const array: unknown[] = [];
  let type = tokens.next();
  if (type === 'T_ARR_END') return array;
  for (;;) {
    array.push(decodeValue(tokens, type, depth));
    type = tokens.next();
    if (type === 'T_ARR_END') return array;
    if (type !== 'T_COMMA') throw tokens.unexpected('comma or array end');
    type = tokens.next();
  }
}
