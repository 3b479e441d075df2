import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character of Unicode, for `fc.string({ unit })`. The library's own unit `binary` is the same,
 * but it keeps a table of a million characters in the test process.
 */
export const anyCharacter = fc.nat(0x10ffff - SURROGATES).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (code === undefined || character !== String.fromCodePoint(code)) throw new TypeError();
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);
