import { LIMITS } from './limits.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns true if arrays and objects in this JSON text are nested deeper than the limit. It scans
 * the text, because functions that walk values, also the engine's own, recurse.
 */
export function isDeeperThan(limit: number, json: string): boolean {
  // Every opening bracket needs a closing one.
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

export function isValueDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((inner) => isValueDeeperThan(limit - 1, inner));
}

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

/** Returns why a value cannot be stored as JSON, as a sentence's end; undefined if it can. */
export function findJsonFault(value: unknown): string | undefined {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // `JSON.stringify` throws for cycles, BigInt, a failing toJSON, and very deep nesting.
  }
  if (json === undefined) return 'it cannot be written as JSON';
  return isDeeperThan(LIMITS.jsonDepth, json) ? 'it is nested too deeply' : undefined;
}
