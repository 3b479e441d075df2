import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CJSON_NULL, decode, encode } from '../../../../stores/memory/keyspace/cjson.js';
import { openRealRedis } from './real-redis.js';

const { client } = openRealRedis(13);

const BOTH_WAYS = `
local ok, text = pcall(function() return cjson.encode(cjson.decode(ARGV[1])) end)
return { ok and 1 or 0, text }`;

/** The text, or what the error says behind the script's name. */
async function theirs(json: string): Promise<string> {
  const [, text] = (await client.eval(BOTH_WAYS, 0, json)) as [number, string];
  return text.replace(/^user_script:\d+: /, '');
}

function ours(json: string): string {
  try {
    return encode(decode(json));
  } catch (error) {
    return (error as Error).message;
  }
}

/** Tables of Lua have no order. */
function unordered(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

async function expectSame(json: string): Promise<void> {
  const [expected, shown] = [await theirs(json), ours(json)];
  expect({ json, shown: unordered(shown) }).toEqual({ json, shown: unordered(expected) });
  // The same characters, in whatever order.
  expect(Array.from(shown).sort().join('')).toBe(Array.from(expected).sort().join(''));
}

const Text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '',
    '\0\u001f\u007f\u0080/\\"\b\t\n\f\r',
    '🙂',
    '1',
    '0',
  ),
);
const { value: AnyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    Text,
    fc.oneof(
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    ),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { minLength: 1, maxLength: 5 }),
    fc.array(fc.tuple(Text, tie('value'))).map((fields) => Object.fromEntries(fields) as unknown),
  ),
}));

/** A JSON text with some characters put in, taken out or exchanged. */
const Damage = fc.tuple(
  fc.nat(),
  fc.nat({ max: 2 }),
  fc.oneof(
    fc.constantFrom(...Array.from('"\\{}[]:,0x-+e.ind \0é')),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
);
const Damaged = fc
  .tuple(AnyJson, fc.array(Damage, { minLength: 1, maxLength: 3 }))
  .map(([value, damages]) =>
    damages.reduce((text, [place, length, put]) => {
      const characters = Array.from(text);
      characters.splice(place % (characters.length + 1), length, put);
      return characters.join('');
    }, JSON.stringify(value)),
  );

function nested(depth: number): string {
  return '['.repeat(depth) + '1' + ']'.repeat(depth);
}

describe('cjson', () => {
  it('makes of any JSON what it makes in Redis', async () => {
    await fc.assert(
      fc.asyncProperty(AnyJson, async (value) => expectSame(JSON.stringify(value))),
      { numRuns: 400 },
    );
  });

  it('refuses what it refuses in Redis, and says the same', async () => {
    await fc.assert(fc.asyncProperty(Damaged, expectSame), { numRuns: 400 });
  });

  it.each([
    ...['+1', '-', '1.', '.5', '01', '0x1F', '0x', '1e', '1e5', '1e999', '-0', '1 2', '0x1p3'],
    ...['inf', '-inf', 'Infinity', 'nan', '-NaN', 'infx', 'i', 'I', 'n', 'N', 'x', '+', '+x'],
    ...['"\\ud800"', '"\\udc00"', '"\\ud800\\u0041"', '"\\ud83d\\ude00"', '"\\ud83d\\ud83d"'],
    ...['"\\udc00\\udc00"', '"\\ude00\\ud83d"'],
    ...['"\\u12"', '"\\uzzzz"', '"\\u00e9\\u0000"', '"\\x"', '"a', '"a\\', '"\n\t"', "'a'"],
    ...[
      '[1,]',
      '[,1]',
      '[1 2]',
      '[',
      '{',
      '{a:1}',
      '{"a":1,}',
      '{"a" 1}',
      '{"a":}',
      '{"é":x}',
      '{1:1}',
    ],
    ...[
      'tru',
      'nul',
      'True',
      'NULL',
      '',
      ' ',
      '\ufeff1',
      '1\0x',
      '\0',
      '\0\0',
      'é\0',
      '1\x0b',
      '"a\0"',
    ],
    ...['{"a":1,"a":2}', '{"__proto__":{"a":1}}', '{"a":null}', 'null', '"a"', '{}', '{"a":{}}'],
    ...[nested(1_000), nested(1_001), '"é" é', '[null,1]', '[1,null]', '1e400', '1e-400'],
    ...['123456789012345678', '-123456789012345', '0.1e-6', '1E+2', '100000000000000', '1e14'],
  ])('decodes as in Redis: %j', async (json) => {
    await expectSame(json);
  });

  it('decodes into tables that have only what the text says', () => {
    const table = decode('{"__proto__":null,"a":[{}]}') as Record<string, unknown>;
    expect(Object.keys(table)).toEqual(['__proto__', 'a']);
    expect(table['__proto__']).toBe(CJSON_NULL);
    expect(table['constructor']).toBeUndefined();
    expect(table['a']).toEqual([{}]);
  });

  it('leaves out what is nil to Lua', async () => {
    const value = { a: undefined, b: null, c: CJSON_NULL, d: [undefined, 1, null, 2, undefined] };
    expect(encode(value)).toBe('{"c":null,"d":[null,1,null,2]}');
    expect(encode([])).toBe('{}');
    expect(encode([undefined])).toBe('{}');
    expect(encode(undefined)).toBe(await client.eval('return cjson.encode(nil)', 0));
  });

  it('refuses to encode what cjson refuses', async () => {
    const sparse = Array.from<number | undefined>({ length: 11 });
    const cases: [string, unknown][] = [
      ['{ 0 / 0 }', [NaN]],
      ['{ a = 1 / 0 }', { a: Infinity }],
      ['{ tostring }', [String]],
      ['{ [11] = 1, [2] = 1 }', sparse.with(10, 1).with(1, 1)],
      [
        '(function() local t = {} for _ = 1, 1000 do t = { t } end return t end)()',
        nestedArray(1_001),
      ],
    ];
    for (const [lua, value] of cases) {
      const script = `local ok, text = pcall(cjson.encode, ${lua}) return text`;
      const message = String(await client.eval(script, 0)).replace(/^user_script:\d+: /, '');
      expect(() => encode(value)).toThrow(new Error(message));
    }
    expect(encode(sparse.with(10, 1).fill(1, 0, 5))).toBe('[1,1,1,1,1,null,null,null,null,null,1]');
  });
});

/** As many arrays in each other, the innermost empty. */
function nestedArray(depth: number): unknown[] {
  let value: unknown[] = [];
  for (let i = 1; i < depth; i += 1) value = [value];
  return value;
}
