import { RedisError } from './reply.js';
import { cString, isDigit, isSpace } from './text.js';

/** An integer of 64 bits: a number wherever a number is exact, so that equal ones are identical. */
export type Int64 = number | bigint;

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const UINT64_RANGE = 2n ** 64n;
/** So many digits always fit into a number. */
const SAFE_DIGITS = 15;
const ZERO = 48;
const MINUS = 45;

export function exact(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** As strictly as Redis: no white space, no plus sign, no leading zeros, no minus zero. */
export function parseInt64(text: string): Int64 | undefined {
  const { length } = text;
  const begin = text.charCodeAt(0) === MINUS ? 1 : 0;
  if (length === begin || length > 20) return undefined;
  if (text.charCodeAt(begin) === ZERO) return length === 1 ? 0 : undefined;
  let value = 0;
  for (let i = begin; i < length; i += 1) {
    const unit = text.charCodeAt(i);
    if (!isDigit(unit)) return undefined;
    value = value * 10 + (unit - ZERO);
  }
  if (length - begin <= SAFE_DIGITS) return begin === 1 ? -value : value;
  const whole = BigInt(text);
  return whole > INT64_MAX || whole < INT64_MIN ? undefined : exact(whole);
}

/** The sum, or undefined where 64 bits would overflow. */
export function addInt64(a: Int64, b: Int64): Int64 | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  const sum = BigInt(a) + BigInt(b);
  return sum > INT64_MAX || sum < INT64_MIN ? undefined : exact(sum);
}

export function requireInt64(text: string): Int64 {
  const value = parseInt64(text);
  if (value === undefined) {
    throw new RedisError('ERR value is not an integer or out of range');
  }
  return value;
}

/** For indexes and counts: beyond 2^53 nothing depends on the last digit. */
export function requireInteger(text: string): number {
  return Number(requireInt64(text));
}

/** A part of a stream id. Redis reads it with strtoull() where its own parser gives up. */
export function parseUint64(text: string): Int64 | undefined {
  const strict = parseInt64(text);
  if (strict !== undefined) return strict < 0 ? undefined : strict;
  const digits = cString(text);
  let at = 0;
  while (isSpace(digits.charCodeAt(at))) at += 1;
  const sign = digits.charAt(at);
  if (sign === '-' || sign === '+') at += 1;
  if (at === digits.length) return undefined;
  for (let i = at; i < digits.length; i += 1) {
    if (!isDigit(digits.charCodeAt(i))) return undefined;
  }
  const value = BigInt(digits.slice(at));
  if (value >= UINT64_RANGE) return undefined;
  return exact(sign === '-' ? (UINT64_RANGE - value) % UINT64_RANGE : value);
}
