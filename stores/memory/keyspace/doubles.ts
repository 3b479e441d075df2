import { isDigit, isSpace, isWord } from './text.js';

/** What strtod() of C found at a place in a text. */
export interface ParsedDouble {
  value: number;
  /** Behind the last character that belongs to the number; where it began if there is none. */
  end: number;
  /** The number is too large or too small for a double. */
  outOfRange: boolean;
}

const NAN_WORD = 'nan';
/** Beyond it nothing changes, however many digits there are. */
const FAR_EXPONENT = 1e6;

/** strtod(): takes white space and a sign, then a decimal, a hexadecimal, infinity or NaN. */
export function parseDouble(text: string, from = 0): ParsedDouble {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  const sign = text.charAt(at);
  if (sign === '-' || sign === '+') at += 1;
  const found = parseWord(text, at) ?? parseHexadecimal(text, at) ?? parseDecimal(text, at);
  if (found === undefined) return { value: 0, end: from, outOfRange: false };
  return sign === '-' ? { ...found, value: -found.value } : found;
}

function parseWord(text: string, at: number): ParsedDouble | undefined {
  const unit = text.charCodeAt(at) | 0x20;
  if (unit === 105) {
    for (const word of ['infinity', 'inf']) {
      if (isWord(text.slice(at, at + word.length), word)) {
        return { value: Infinity, end: at + word.length, outOfRange: false };
      }
    }
  }
  if (unit === 110 && isWord(text.slice(at, at + NAN_WORD.length), NAN_WORD)) {
    return { value: NaN, end: endOfNan(text, at + NAN_WORD.length), outOfRange: false };
  }
  return undefined;
}

/** A NaN may have letters and digits in parentheses. */
function endOfNan(text: string, at: number): number {
  if (text[at] !== '(') return at;
  const end = skip(text, at + 1, isLetterOrDigit);
  return text[end] === ')' ? end + 1 : at;
}

function parseHexadecimal(text: string, at: number): ParsedDouble | undefined {
  if (text[at] !== '0' || (text.charCodeAt(at + 1) | 0x20) !== 120) return undefined;
  const point = skip(text, at + 2, isHexDigit);
  const end = text[point] === '.' ? skip(text, point + 1, isHexDigit) : point;
  const fraction = text.slice(point + 1, end);
  const digits = text.slice(at + 2, point) + fraction;
  if (digits === '') return undefined;
  const mantissa = BigInt(`0x${digits}`);
  const { exponent, end: behind } = parseExponent(text, end, 112);
  const power = exponent - 4 * fraction.length;
  // In two steps, because a power of two of its own may be too small where the product is not.
  const half = Math.trunc(power / 2);
  const value = mantissa === 0n ? 0 : Number(mantissa) * 2 ** half * 2 ** (power - half);
  return { value, end: behind, outOfRange: isOutOfRange(value, mantissa !== 0n) };
}

function parseDecimal(text: string, at: number): ParsedDouble | undefined {
  const point = skip(text, at, isDigit);
  const end = text[point] === '.' ? skip(text, point + 1, isDigit) : point;
  if (end - at - (text[point] === '.' ? 1 : 0) === 0) return undefined;
  const { end: behind } = parseExponent(text, end, 101);
  const value = Number(text.slice(at, behind));
  return { value, end: behind, outOfRange: isOutOfRange(value, hasDigit(text, at, end)) };
}

function parseExponent(
  text: string,
  at: number,
  letter: number,
): { exponent: number; end: number } {
  if ((text.charCodeAt(at) | 0x20) !== letter) return { exponent: 0, end: at };
  const sign = text.charAt(at + 1);
  const begin = sign === '-' || sign === '+' ? at + 2 : at + 1;
  const end = skip(text, begin, isDigit);
  if (end === begin) return { exponent: 0, end: at };
  const exponent = Number(text.slice(at + 1, end));
  return { exponent: Math.max(-FAR_EXPONENT, Math.min(FAR_EXPONENT, exponent)), end };
}

function isOutOfRange(value: number, isNonZero: boolean): boolean {
  return value === Infinity || (value === 0 && isNonZero);
}

function hasDigit(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit > 48 && unit <= 57) return true;
  }
  return false;
}

function skip(text: string, from: number, is: (unit: number) => boolean): number {
  let at = from;
  while (is(text.charCodeAt(at))) at += 1;
  return at;
}

function isHexDigit(unit: number): boolean {
  const lower = unit | 0x20;
  return isDigit(unit) || (lower >= 97 && lower <= 102);
}

function isLetterOrDigit(unit: number): boolean {
  const lower = unit | 0x20;
  return isDigit(unit) || unit === 95 || (lower >= 97 && lower <= 122);
}
