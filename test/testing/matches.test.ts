import { matches } from '../../testing/matches.js';

describe('what a test expects of a value', () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{}, { a: undefined }, true],
    [[1, 2], [1], false],
    [[{ a: 1, b: 2 }], [{ a: 1 }], true],
    // A list does not match an object with few keys.
    [[1], {}, false],
    ['text', {}, false],
    ['text', /^te/, true],
    [{ n: 5 }, { n: expect.any(Number) }, true],
    [{ n: '5' }, { n: expect.any(Number) }, false],
    ['a long text', expect.stringContaining('long'), true],
    [{ n: 5 }, { n: (value: unknown) => value === 5 }, true],
    [NaN, NaN, true],
    [null, {}, false],
    [{ a: 1, b: 2 }, Object.assign(Object.create(null) as object, { a: 1 }), true],
  ])('%j against %p: %s', (actual, expected, is) => {
    expect(matches(actual, expected)).toBe(is);
  });

  it('what has no keys of its own does not match any object', () => {
    for (const expected of [new Date(0), new Set(['a']), new Map([['a', 1]])]) {
      expect(matches({ at: {} }, { at: expected })).toBe(false);
    }
  });

  it('a pattern matches each time, with any flags', () => {
    const pattern = /back/gy;
    expect([1, 2, 3].map(() => matches('back', pattern))).toEqual([true, true, true]);
  });
});
