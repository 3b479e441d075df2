import fc from 'fast-check';
import { CJSON_NULL, decode, encode } from '../../../../stores/memory/keyspace/cjson.js';
import { openRealRedis } from './real-redis.js';

const { client } = openRealRedis(13);

const ACCEPTS = 'return (pcall(cjson.decode, ARGV[1])) and 1 or 0';
const ENCODE = 'return cjson.encode(ARGV[1])';
/** The other way round, so that the order of fields makes no difference. */
const SAME = `
local function same(a, b)
  if type(a) ~= 'table' or type(b) ~= 'table' then return a == b end
  for key, value in pairs(a) do if not same(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end
return same(cjson.decode(ARGV[1]), cjson.decode(ARGV[2])) and 1 or 0`;

function accepts(json: string): boolean {
  try {
    decode(json);
    return true;
  } catch {
    return false;
  }
}

const Text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('__proto__', 'constructor', '', '\0\u001f\u007f\u0080/\\"\b\t\n\f\r', '🙂', '1'),
);
/** Also texts that were cut within a character. */
const Cut = fc.string({ unit: fc.integer({ min: 0xd7f0, max: 0xe010 }).map(String.fromCharCode) });
const { value: AnyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.oneof({ weight: 5, arbitrary: Text }, { weight: 1, arbitrary: Cut }),
    fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(Text, tie('value'))).map((fields) => Object.fromEntries(fields) as unknown),
  ),
}));

function nested(depth: number): string {
  return '['.repeat(depth) + '1' + ']'.repeat(depth);
}

/** What JSON.stringify() makes of what was decoded. */
function written(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (inner === CJSON_NULL ? null : inner));
}

describe('cjson', () => {
  it('cjson accepts the output of JSON.stringify() as Redis does, and reads the same', async () => {
    await fc.assert(
      fc.asyncProperty(AnyJson, async (value) => {
        const json = JSON.stringify(value);
        expect([json, accepts(json)]).toEqual([json, (await client.eval(ACCEPTS, 0, json)) === 1]);
        if (!accepts(json)) return;
        const again = written(decode(json));
        expect([json, again, await client.eval(SAME, 0, json, again)]).toEqual([json, again, 1]);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ...[nested(1_000), nested(1_001), '"\\ud800"', '"\\udc00"', '"\\ud83d\\ude00"'],
    ...['{"\\ud800":1}', '["\\ud83d\\ud83d"]', '{"a":"\\udc00\\ud83d"}', '"\\ud800\\u0041"'],
    ...['', '{', '[1,]', '{a:1}', '[1 2]', "'a'", 'nul', '{"a":1,"a":2}', ' [ null ] ', '1e400'],
  ])('cjson accepts or refuses as in Redis: %j', async (json) => {
    expect(accepts(json)).toBe((await client.eval(ACCEPTS, 0, json)) === 1);
  });

  it('cjson refuses values that are too deep', () => {
    expect(() => decode(nested(1_001))).toThrow('Found too many nested data structures (1001)');
  });

  it('cjson decodes null into a value of its own, and any name into a field', () => {
    const table = decode('{"__proto__":null,"a":[{},null]}') as Record<string, unknown>;
    expect(Object.entries(table)).toEqual([
      ['__proto__', CJSON_NULL],
      ['a', [{}, CJSON_NULL]],
    ]);
  });

  it('cjson encodes any text as in Redis', async () => {
    await fc.assert(
      fc.asyncProperty(Text, async (text) => {
        expect(encode(text)).toBe(await client.eval(ENCODE, 0, text));
      }),
    );
  });
});
