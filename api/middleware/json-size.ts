/** Upper bounds of a JSON text. */
export interface JsonBounds {
  /** Nesting of arrays and objects. */
  depth: number;
  /** Literals, strings, arrays and objects; member names do not count. */
  values: number;
}

/**
 * Measures a JSON text as it arrives: takes the next bytes and returns the bound that the text
 * exceeds so far, if any.
 */
export type JsonMeter = (bytes: Uint8Array) => keyof JsonBounds | undefined;

/** Kinds of bytes outside of strings. */
const LITERAL = 0;
const BETWEEN = 1;
const QUOTE = 2;
const OPEN = 3;
const CLOSE = 4;
const COLON = 5;
const BACKSLASH = 0x5c;
const QUOTE_BYTE = 0x22;

const KINDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\r,')) KINDS[byte] = BETWEEN;
for (const byte of Buffer.from('[{')) KINDS[byte] = OPEN;
for (const byte of Buffer.from(']}')) KINDS[byte] = CLOSE;
KINDS[0x3a] = COLON;
KINDS[QUOTE_BYTE] = QUOTE;

/**
 * A meter for one JSON text in UTF-8. It scans bytes before anything is parsed: later code walks
 * values by recursion, and a list of small ones takes thirty times the memory of its text. Bytes that
 * are not JSON are left to the parser, which stops at them.
 */
export function createJsonMeter(bounds: JsonBounds): JsonMeter {
  let depth = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  let isInLiteral = false;

  /** The index at which the current string ends, or the length if it continues. */
  function skipString(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    if (isEscaped && at < length) {
      isEscaped = false;
      at += 1;
    }
    for (; at < length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE_BYTE) break;
      if (byte === BACKSLASH) at += 1;
    }
    isInString = at >= length;
    // The escaped byte is the first of the next ones.
    isEscaped = at > length;
    return at;
  }

  return (bytes) => {
    const { length } = bytes;
    let at = isInString ? skipString(bytes, 0) + 1 : 0;
    for (; at < length; at += 1) {
      const kind = KINDS[bytes[at] ?? 0];
      if (kind === LITERAL) {
        if (isInLiteral) continue;
        isInLiteral = true;
        values += 1;
      } else {
        isInLiteral = false;
        if (kind === BETWEEN) continue;
        if (kind === CLOSE) depth -= 1;
        else if (kind === COLON) {
          // The string before it was a member name.
          values -= 1;
        } else {
          values += 1;
          if (kind === QUOTE) at = skipString(bytes, at + 1);
          else depth += 1;
          if (depth > bounds.depth) return 'depth';
        }
      }
      if (values > bounds.values) return 'values';
    }
    return undefined;
  };
}
