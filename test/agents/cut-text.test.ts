import fc from 'fast-check';
import { anyCharacter } from '../support/any-character.js';
import { cutText, cutWords } from '../../agents/index.js';

const text = fc.string({ unit: anyCharacter, maxLength: 200 });

describe('cutText', () => {
  it('cutText returns near-equal pieces of whole code points that join to the text', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 300 }), (whole, count) => {
        const pieces = cutText(whole, count);
        const lengths = pieces.map((piece) => Array.from(piece).length);
        const points = Array.from(whole).length;
        expect(pieces.join('')).toBe(whole);
        expect(pieces).toHaveLength(Math.min(count, points));
        // A split pair would count as two code points.
        expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(points);
        if (points > 0) expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('cutText keeps a pair of surrogates together', () => {
    expect(cutText('a😀b', 3)).toEqual(['a', '😀', 'b']);
  });
});

it('cutWords returns words that join to the text', () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(cutWords(whole).join('')).toBe(whole);
    }),
  );
  expect(cutWords('to be  or')).toEqual(['to ', 'be  ', 'or']);
});
