/** A string of a JSON text that was read, or why it could not be. */
export type ReadString =
  { text: string; end: number } | { problem: string; /** Where cjson noticed it. */ at: number };

const QUOTE = 34;
const BACKSLASH = 92;
const NUL = 0;

const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['f', '\f'],
  ['r', '\r'],
]);

/** Reads the string that begins behind a quote. Control characters may stand in it as they are. */
export function readString(json: string, from: number): ReadString {
  let text = '';
  let begin = from;
  let at = from;
  for (;;) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) return { text: text + json.slice(begin, at), end: at + 1 };
    if (unit === NUL || at >= json.length) return { problem: 'unexpected end of string', at };
    if (unit !== BACKSLASH) {
      at += 1;
      continue;
    }
    const letter = json.charAt(at + 1);
    const character = letter === 'u' ? unicodeEscape(json, at) : ESCAPES.get(letter);
    if (character === undefined) {
      const problem = letter === 'u' ? 'invalid unicode escape code' : 'invalid escape code';
      return { problem, at };
    }
    text += json.slice(begin, at) + character;
    at += letter === 'u' ? 6 * character.length : 2;
    begin = at;
  }
}

/** The character that \uXXXX stands for, or two of them for one beyond U+FFFF. */
function unicodeEscape(json: string, at: number): string | undefined {
  const unit = hexadecimal(json, at + 2);
  if (unit === undefined || !isSurrogate(unit)) {
    return unit === undefined ? undefined : String.fromCharCode(unit);
  }
  if (isLow(unit) || json.slice(at + 6, at + 8) !== '\\u') return undefined;
  const low = hexadecimal(json, at + 8);
  return low !== undefined && isSurrogate(low) && isLow(low)
    ? String.fromCharCode(unit, low)
    : undefined;
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf800) === 0xd800;
}

function isLow(surrogate: number): boolean {
  return (surrogate & 0x400) !== 0;
}

function hexadecimal(json: string, at: number): number | undefined {
  let value = 0;
  for (let i = at; i < at + 4; i += 1) {
    const digit = '0123456789abcdef'.indexOf(json.charAt(i).toLowerCase() || '?');
    if (digit === -1) return undefined;
    value = value * 16 + digit;
  }
  return value;
}
