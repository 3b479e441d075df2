const NUL = 0;

/** Redis reads many arguments as C strings, which end at the first NUL. */
export function cString(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

/** Whether an argument is that option; `word` is in lower case. Only ASCII has two cases here. */
export function isWord(text: string, word: string): boolean {
  const { length } = word;
  if (text.length < length) return false;
  for (let i = 0; i < length; i += 1) {
    const unit = text.charCodeAt(i);
    const lower = unit >= 65 && unit <= 90 ? unit + 32 : unit;
    if (lower !== word.charCodeAt(i)) return false;
  }
  return text.length === length || text.charCodeAt(length) === NUL;
}

/**
 * Redis orders by bytes of UTF-8, which is the order of code points. JavaScript orders by units of
 * UTF-16, where a surrogate comes before U+E000 although its character comes behind U+FFFF.
 */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointOrder(x) - codePointOrder(y);
  }
  return a.length - b.length;
}

function codePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

/** What isspace() of C takes for white space. */
export function isSpace(unit: number): boolean {
  return unit === 32 || (unit >= 9 && unit <= 13);
}

export function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}
