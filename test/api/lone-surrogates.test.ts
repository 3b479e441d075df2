import fc from 'fast-check';
import { replaceLoneSurrogates } from '../../api/middleware/json-body.js';

describe('lone surrogates', () => {
  const mend = (json: string): string => {
    const bytes = Buffer.from(json);
    replaceLoneSurrogates(bytes);
    return bytes.toString();
  };

  it('lone surrogates of any JSON are replaced as toWellFormed does, in names too', () => {
    const unit = fc.constantFrom(
      '\ud83d',
      '\ude00',
      '\\',
      '"',
      'u',
      'd',
      '8',
      '0',
      '\ud7ff',
      '\ue000',
    );
    const anyText = fc.string({ unit, maxLength: 12 });
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.array(anyText)), (value) => {
        const expected = Object.fromEntries(
          Object.entries(value).map(([key, texts]) => [
            key.toWellFormed(),
            texts.map((text) => text.toWellFormed()),
          ]),
        );
        expect(JSON.parse(mend(escapeAll(JSON.stringify(value))))).toEqual(expected);
      }),
    );
  });

  it.each([
    [String.raw`"\uD800"`, String.raw`"\ufffd"`],
    [String.raw`"\\ud800"`, String.raw`"\\ud800"`],
    [String.raw`"\\\udfff"`, String.raw`"\\\ufffd"`],
    [String.raw`"\ud8zz"`, String.raw`"\ud8zz"`],
    [String.raw`"\ud8`, String.raw`"\ud8`],
    ['', ''],
  ])('%s becomes %s', (json, expected) => {
    expect(mend(json)).toBe(expected);
  });
});

/** The same JSON with every character above U+007F as an escape. */
function escapeAll(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
