const BACKSLASH = 0x5c;
const U = 0x75;
/** `\uXXXX` */
const ESCAPE_BYTES = 6;
const REPLACEMENT = Buffer.from('fffd');

/** The value of a hexadecimal digit, by its byte; 16 for other bytes. */
const DIGITS = new Uint8Array(256).fill(16);
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Replaces every lone surrogate in a JSON text by U+FFFD, in place, member names included. In UTF-8
 * they occur as escapes only. A text that was cut within an emoji is no reason to refuse a
 * conversation, but it has no UTF-8 form, and the store cannot parse its JSON.
 */
export function replaceLoneSurrogates(json: Buffer): void {
  for (let at = json.indexOf(BACKSLASH); at >= 0 && at < json.length; at += 1) {
    if (json[at] !== BACKSLASH) continue;
    const surrogate = readSurrogate(json, at);
    if (surrogate === undefined) {
      at += 1;
    } else if (surrogate === 'high' && readSurrogate(json, at + ESCAPE_BYTES) === 'low') {
      at += 2 * ESCAPE_BYTES - 1;
    } else {
      json.set(REPLACEMENT, at + 2);
      at += ESCAPE_BYTES - 1;
    }
  }
}

/** Which surrogate of a pair is escaped at this place; undefined for anything else. */
function readSurrogate(json: Buffer, at: number): 'high' | 'low' | undefined {
  if (json[at] !== BACKSLASH || json[at + 1] !== U) return undefined;
  if (digitAt(json, at + 2) !== 0xd) return undefined;
  const second = digitAt(json, at + 3);
  const isEscape = second >= 8 && digitAt(json, at + 4) < 16 && digitAt(json, at + 5) < 16;
  if (!isEscape || second > 15) return undefined;
  return second < 0xc ? 'high' : 'low';
}

function digitAt(json: Buffer, at: number): number {
  return DIGITS[json[at] ?? 0] ?? 16;
}
