import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatInt } from '../../../../stores/memory/keyspace/cjson.js';
import { parseDouble } from '../../../../stores/memory/keyspace/doubles.js';
import {
  formatDouble,
  formatG,
  formatJsonNumber,
} from '../../../../stores/memory/keyspace/format.js';
import { createKeyspace } from '../../../../stores/memory/keyspace/keyspace.js';
import { openRealRedis } from './real-redis.js';

const { client } = openRealRedis(12);

/** Halves of the last digit, and whatever else is close to where rounding turns. */
const Tie = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 60 }))
  .map(([mantissa, power]) => mantissa / 2 ** power);
const Half = fc.integer({ min: 10 ** 13, max: 10 ** 14 }).map((n) => n + 0.5);
const Decimal = fc
  .tuple(fc.integer(), fc.integer({ min: -30, max: 30 }))
  .map(([digits, power]) => Number(`${String(digits)}e${String(power)}`));
const AnyDouble = fc.oneof(fc.double(), Tie, Half, Decimal, fc.maxSafeInteger());

function textOf(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const WRITE = `
local shown = {}
for i, text in ipairs(ARGV) do
  local n = tonumber(text)
  shown[i] = { string.format('%.17g', n), string.format('%.14g', n), string.format('%d', n) }
end
return shown`;

describe('numbers', () => {
  it('are written as Lua writes them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(AnyDouble.filter((n) => !Number.isNaN(n))), async (values) => {
        const ours = values.map((n) => [formatDouble(n), formatG(n, 14), formatInt(n)]);
        expect(ours).toEqual(await client.eval(WRITE, 0, ...values.map(textOf)));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [1e21, 14, '1e+21'],
    [12345678901234.5, 14, '12345678901234'],
    [12345678901235.5, 14, '12345678901236'],
    [0.0001, 14, '0.0001'],
    [0.00001, 14, '1e-05'],
    [2 ** -25, 17, '2.9802322387695312e-08'],
    [99999999999999.9, 14, '1e+14'],
    [NaN, 17, 'nan'],
    [-Infinity, 17, '-inf'],
  ])('%d to %d digits', (value, precision, text) => {
    expect(formatG(value, precision)).toBe(text);
  });

  it('are whole for cjson up to 14 digits', () => {
    expect([99999999999999, 100000000000000, -0].map(formatJsonNumber)).toEqual([
      ...['99999999999999', '1e+14', '-0'],
    ]);
  });

  it.each([NaN, Infinity, 2 ** 63, -(2 ** 63)])('%d is the lowest integer for Lua', (value) => {
    expect(formatInt(value)).toBe('-9223372036854775808');
  });

  it('among arguments are what redis.call() makes of them', async () => {
    const SET = "redis.call('SET', KEYS[1], tonumber(ARGV[1])) return redis.call('GET', KEYS[1])";
    for (const value of [0, -0, 7, 0.1, 1e15, 1e17, 2 ** 53, 1 / 3, -1.5e-7, Infinity]) {
      const keyspace = createKeyspace({ now: Date.now });
      keyspace.call('SET', 'n', value);
      expect(keyspace.call('GET', 'n')).toBe(await client.eval(SET, 1, 'n', textOf(value)));
    }
  });

  it.each([
    ['nan(12)x', NaN, 7],
    ['nan(1', NaN, 3],
    ['-infinit', -Infinity, 4],
    [' \t+1.5e+2e', 150, 9],
    ['1e+', 1, 1],
    ['0x1.8p1', 3, 7],
    ['0xg', 0, 1],
    ['0x10000000000000000000000p-92', 2 ** -4, 29],
    ['-', 0, 0],
    ['.', 0, 0],
  ])('are read as strtod() does: %j', (text, value, end) => {
    expect(parseDouble(text)).toMatchObject({ value, end });
  });
});
