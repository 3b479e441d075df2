import fc from 'fast-check';
import { isDeeperThan, isValueDeeperThan, startOf } from '../../protocol/limits.js';

const nested = (depth: number, inner = '1'): string =>
  '['.repeat(depth) + inner + ']'.repeat(depth);

describe('the depth of JSON', () => {
  it.each([
    [nested(500), false],
    [nested(501), true],
    [nested(500, '{}'), true],
    [`[${nested(499)},${nested(499)},${'[],'.repeat(600)}1]`, false],
    [`"${'['.repeat(2_000)}"`, false],
    [`["${'\\"['.repeat(600)}\\\\",${nested(499)}]`, false],
    [`["${'\\"['.repeat(600)}\\\\",${nested(500)}]`, true],
    [`{"${'['.repeat(600)}":${nested(500)}}`, true],
    [nested(1_000_000), true],
    [`"${'['.repeat(2_000)}`, false],
  ])('of %.20s… is found in its text', (json, isDeeper) => {
    expect(isDeeperThan(500, json)).toBe(isDeeper);
  });

  it('the depth of JSON is the same in the text and in the value', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 0
        : 1 + Math.max(0, ...Object.values(value).map(depthOf));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(6), (value, limit) => {
        const isDeeper = depthOf(value) > limit;
        expect(isDeeperThan(limit, JSON.stringify(value))).toBe(isDeeper);
        expect(isValueDeeperThan(limit, value)).toBe(isDeeper);
      }),
    );
  });
});

it('the start of a text splits no character, and has whole ones', () => {
  expect([3, 4, 5].map((length) => startOf('ab\ud83d🙂c', length))).toEqual([
    'ab\ufffd',
    'ab\ufffd',
    'ab\ufffd🙂',
  ]);
});
