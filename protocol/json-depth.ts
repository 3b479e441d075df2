const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * True if arrays and objects lie deeper in each other than the limit in this JSON text. Looks at the
 * text, since values are walked by recursion in many places, the engine's own among them.
 */
export function isDeeperThan(limit: number, json: string): boolean {
  // Whatever is opened is closed again.
  if (json.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = findEndOfString(json, at);
        if (at < 0) return false;
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > limit) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      default:
    }
  }
  return false;
}

/** The same of a value. */
export function isValueDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((inner) => isValueDeeperThan(limit - 1, inner));
}

/** Where a string's closing quote stands; -1 if it has none. */
function findEndOfString(json: string, start: number): number {
  let at = start;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at < 0) return -1;
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}
