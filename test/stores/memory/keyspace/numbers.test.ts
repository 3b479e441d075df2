import fc from 'fast-check';
import { createKeyspace } from '../../../../stores/memory/keyspace/keyspace.js';
import { formatNumber, requireDouble } from '../../../../stores/memory/keyspace/numbers.js';
import { openRealRedis } from './real-redis.js';

const { client } = openRealRedis(12);

const Decimal = fc
  .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: -6, max: 30 }))
  .map(([digits, power]) => Number(`${String(digits)}e${String(power)}`))
  .filter((n) => n === 0 || Math.abs(n) >= 1e-4);
const Time = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 42 }), fc.integer({ min: 0, max: 999 }))
  .map(([ms, microseconds]) => ms + microseconds / 1000);

const WRITE = `
local shown = {}
for i, text in ipairs(ARGV) do shown[i] = string.format('%.17g', tonumber(text)) end
return shown`;

describe('numbers', () => {
  it('numbers are written as Lua writes them', async () => {
    const Any = fc.oneof(fc.maxSafeInteger(), Decimal, Time);
    await fc.assert(
      fc.asyncProperty(fc.array(Any), async (values) => {
        const theirs = await client.eval(WRITE, 0, ...values.map(String));
        expect(values.map(formatNumber)).toEqual(theirs);
      }),
      { numRuns: 500 },
    );
  });

  it('among arguments are what redis.call() makes of them', async () => {
    const SET = "redis.call('SET', KEYS[1], tonumber(ARGV[1])) return redis.call('GET', KEYS[1])";
    const values = [0, 7, 0.1, 1e15, 1e17, 2 ** 53, 1 / 3, -1.5e-7, 1e-10, Infinity, -Infinity];
    for (const value of values) {
      const keyspace = createKeyspace({ now: Date.now });
      keyspace.call('SET', 'n', value);
      expect(keyspace.call('GET', 'n')).toBe(await client.eval(SET, 1, 'n', String(value)));
    }
  });

  it('numbers are written without loss', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        expect(requireDouble(formatNumber(value), 'refused')).toBe(value + 0);
      }),
    );
  });
});
