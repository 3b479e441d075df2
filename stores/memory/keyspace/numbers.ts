import { RedisError } from './reply.js';

/** As strict as Redis: no white space, plus sign, leading zeros or negative zero. */
const INTEGER = /^(0|-?[1-9]\d*)$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)inf(inity)?$/i;

/** Integers are limited to 2^53, where numbers stop being exact, instead of 2^63. */
export function requireInteger(
  text: string,
  problem = 'ERR value is not an integer or out of range',
): number {
  const value = INTEGER.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw new RedisError(problem);
  return value;
}

/** A score, or a bound of a score range. */
export function requireDouble(text: string, problem: string): number {
  if (DECIMAL.test(text)) return Number(text);
  const sign = INFINITE.exec(text)?.[1];
  if (sign === undefined) throw new RedisError(problem);
  return sign === '-' ? -Infinity : Infinity;
}

const ZEROS_BEHIND_POINT = /\.0+(?=e|$)|(?<=\.\d*[1-9])0+(?=e|$)/;

/**
 * Formats scores, and numbers among the arguments of a command, like C's `%.17g`. (Differs between
 * 1e-6 and 1e-4, and where the 18th digit is a half.)
 */
export function formatNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = value.toPrecision(17).replace(ZEROS_BEHIND_POINT, '');
  // Exponents have two digits.
  return text.replace(/(?<=e[+-])(?=\d$)/, '0');
}
