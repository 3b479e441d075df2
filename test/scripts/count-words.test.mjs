import { describe, expect, it } from '@jest/globals';
import { createSilence, judge, readNumbers } from '../../scripts/start/chaos/count-words.js';

const numbersOf = (...ranges) =>
  ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, at) => from + at));

describe('what the chaos bench counts', () => {
  it('a word that is still being written is not counted', () => {
    expect(readNumbers('w1 w2 w3')).toEqual([1, 2, 3]);
    const tens = numbersOf([1, 11]).map((n) => `w${n}`);
    expect(readNumbers([...tens, 'w1'].join(' '))).toEqual(numbersOf([1, 11]));
    expect(readNumbers([...tens, 'w12'].join(' '))).toEqual(numbersOf([1, 12]));
    expect(readNumbers('w')).toEqual([]);
    expect(readNumbers('')).toEqual([]);
  });

  it('the last word counts as doubled where it begins no word that is due', () => {
    expect(judge(readNumbers('w1 w2 w3 w2'))).toEqual({ words: 3, lost: 0, doubled: 1 });
  });

  it.each([
    ['a whole reply', numbersOf([1, 40]), { words: 40, lost: 0, doubled: 0 }],
    ['nothing', [], { words: 0, lost: 0, doubled: 0 }],
    ['a gap', numbersOf([1, 10], [14, 20]), { words: 17, lost: 3, doubled: 0 }],
    ['a step that stands twice', numbersOf([1, 10], [6, 12]), { words: 12, lost: 0, doubled: 5 }],
    ['words out of order', [1, 3, 2], { words: 2, lost: 1, doubled: 1 }],
    ['a beginning that is missing', numbersOf([21, 30]), { words: 10, lost: 20, doubled: 0 }],
  ])('%s', (_name, numbers, counted) => expect(judge(numbers)).toEqual(counted));

  it('words that are shown again end no silence', () => {
    const silence = createSilence({ seen: 70, until: 73, now: 0 });
    // The page is rebuilt: it holds nothing, then the old words again.
    for (const [at, highest] of [0, 40, 60, 70].entries()) {
      expect(silence.see(highest, at * 100)).toBeUndefined();
    }
    expect(silence.see(71, 5_000)).toBeUndefined();
    expect(silence.see(72, 5_050)).toBeUndefined();
    expect(silence.see(73, 5_100)).toBe(5_000);
  });
});
