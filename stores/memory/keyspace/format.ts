/** More digits than two doubles that differ can share with a decimal of 18 digits. */
const MANY_DIGITS = 100;

/** Writes a double as C's printf does with `%.<precision>g`. */
export function formatG(value: number, precision: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const sign = value < 0 ? '-' : '';
  if (!Number.isFinite(value)) return `${sign}inf`;
  const { digits, exponent } = roundedDigits(Math.abs(value), precision);
  if (exponent < -4 || exponent >= precision) {
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${withPoint(digits, 1)}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  if (exponent >= 0) return sign + withPoint(digits, exponent + 1);
  return sign + withPoint('0'.repeat(-exponent) + digits, 1);
}

function roundedDigits(value: number, precision: number): { digits: string; exponent: number } {
  const rounded = split(value.toExponential(precision - 1));
  // C rounds a tie to the even digit, JavaScript away from zero.
  if (!value.toExponential(precision).split('e')[0]?.endsWith('5')) return rounded;
  const whole = split(value.toExponential(MANY_DIGITS));
  const isTie = whole.digits[precision] === '5' && isZeros(whole.digits, precision + 1);
  const isEven = Number(whole.digits[precision - 1]) % 2 === 0;
  if (!isTie || !isEven) return rounded;
  return { digits: whole.digits.slice(0, precision), exponent: whole.exponent };
}

function split(exponential: string): { digits: string; exponent: number } {
  const [mantissa = '', exponent = ''] = exponential.split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(exponent) };
}

function isZeros(digits: string, from: number): boolean {
  for (let i = from; i < digits.length; i += 1) {
    if (digits[i] !== '0') return false;
  }
  return true;
}

/** The digits with a point behind so many of them, without zeros at the end. */
function withPoint(digits: string, point: number): string {
  let end = digits.length;
  while (end > point && digits[end - 1] === '0') end -= 1;
  return end === point
    ? digits.slice(0, point)
    : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

/** Exactly enough digits for any double: scores, and numbers among the arguments of a command. */
export function formatDouble(value: number): string {
  return isPlain(value) ? String(value) : formatG(value, 17);
}

/** How cjson writes a number. */
export function formatJsonNumber(value: number): string {
  return isPlain(value) && Math.abs(value) < 1e14 ? String(value) : formatG(value, 14);
}

function isPlain(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

const INT64_RANGE = 2 ** 63;

/** string.format('%d', value) of Lua 5.1: what is behind the point is cut off. */
export function formatInt(value: number): string {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return String(whole);
  // What C makes of a double that does not fit.
  if (!(whole >= -INT64_RANGE && whole < INT64_RANGE)) return String(-(2n ** 63n));
  return String(BigInt(whole));
}
