const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b];
const CLOSE = [0x5d, 0x7d];

/**
 * True if arrays and objects lie deeper in each other than the limit. Looks at the text, since what
 * is made of it is walked by recursion in many places. UTF-8 only.
 */
export function isDeeperThan(limit: number, json: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) {
      at = findEndOfString(json, at);
      if (at < 0) return false;
    } else if (OPEN.includes(byte)) {
      depth += 1;
      if (depth > limit) return true;
    } else if (CLOSE.includes(byte)) {
      depth -= 1;
    }
  }
  return false;
}

/** Where a string's closing quote stands; -1 if it has none. */
function findEndOfString(json: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = json.indexOf(QUOTE, at + 1);
    if (at < 0) return -1;
    let backslashes = 0;
    while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}
