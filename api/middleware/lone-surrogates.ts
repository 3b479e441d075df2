const BACKSLASH = 0x5c;
const U = 0x75;
/** `\uXXXX` */
const ESCAPE_BYTES = 6;
const REPLACEMENT = Buffer.from('fffd');

/** What a hexadecimal digit is worth, by its byte; 16 for other bytes. */
const DIGITS = new Uint8Array(256).fill(16);
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16);
  DIGITS[digit.charCodeAt(0)] = value;
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Replaces, in JSON as UTF-8 bytes, every half of a character, also in names; as UTF-8 they can be
 * there as escapes only. A text that was cut within an emoji is no reason to refuse a conversation,
 * but it has no UTF-8, and scripts of the store cannot read its JSON.
 */
export function replaceLoneSurrogates(json: Buffer): void {
  for (let at = json.indexOf(BACKSLASH); at >= 0 && at < json.length; at += 1) {
    if (json[at] !== BACKSLASH) continue;
    const half = readHalf(json, at);
    if (half === undefined) {
      at += 1;
    } else if (half === 'first' && readHalf(json, at + ESCAPE_BYTES) === 'second') {
      at += 2 * ESCAPE_BYTES - 1;
    } else {
      json.set(REPLACEMENT, at + 2);
      at += ESCAPE_BYTES - 1;
    }
  }
}

/** Which half of a character the escape is that stands there; undefined for anything else. */
function readHalf(json: Buffer, at: number): 'first' | 'second' | undefined {
  if (json[at] !== BACKSLASH || json[at + 1] !== U) return undefined;
  if (digitAt(json, at + 2) !== 0xd) return undefined;
  const second = digitAt(json, at + 3);
  const isEscape = second >= 8 && digitAt(json, at + 4) < 16 && digitAt(json, at + 5) < 16;
  if (!isEscape || second > 15) return undefined;
  return second < 0xc ? 'first' : 'second';
}

function digitAt(json: Buffer, at: number): number {
  return DIGITS[json[at] ?? 0] ?? 16;
}
