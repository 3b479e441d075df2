import fc from 'fast-check';
import { Redis } from 'ioredis';
import { COMMANDS, createKeyspace, type Reply } from '../../../store/memory/keyspace.js';
import { sharedRedisUrl } from '../../support/test-stores.js';

type Command = readonly [name: string, ...args: string[]];

/** A database of the shared server that no other test file uses. */
const redis = new Redis(sharedRedisUrl(), { db: 11 });

afterAll(async () => {
  await redis.flushdb();
  redis.disconnect();
});

const Text = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '',
    '__proto__',
    'constructor',
    'a\0b',
    '🙂',
    'é\r\n',
    '[]',
    'x'.repeat(5_000),
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const Member = fc.constantFrom('a', 'b', 'c', '__proto__', '', '10', '🙂');
const Index = fc.integer({ min: -4, max: 4 }).map(String);
const Score = fc.integer({ min: -3, max: 5 }).map(String);
const Edge = fc.oneof(
  Score,
  Score.map((score) => `(${score}`),
  fc.constantFrom('-inf', '+inf'),
);
const Id = fc.integer({ min: 1, max: 60 }).map((n) => `${String(n)}-0`);
const IdEdge = fc.oneof(
  Id,
  Id.map((id) => `(${id}`),
);

function command(name: string, ...parts: fc.Arbitrary<string | string[]>[]): fc.Arbitrary<Command> {
  return fc.tuple(...parts).map((args): Command => [name, ...args.flat()]);
}
const word = (text: string): fc.Arbitrary<string> => fc.constant(text);
const some = (part: fc.Arbitrary<string | string[]>): fc.Arbitrary<string[]> =>
  fc.array(part, { minLength: 1, maxLength: 3 }).map((list) => list.flat());
const maybe = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string[]> =>
  fc.oneof(fc.constant([]), fc.tuple(...parts)).map((list) => [...list]);
const pair = (a: fc.Arbitrary<string>, b: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.tuple(a, b);

const hash = word('h');
const list = word('l');
const scores = word('z');
const stream = word('x');
const text = word('t');
const AnyKey = fc.constantFrom('h', 'l', 'z', 'x', 't');

const ALL = [
  command('HSET', hash, some(pair(Member, Text))),
  command('HSETNX', hash, Member, Text),
  command('HINCRBY', word('n'), Member, Index),
  command('HGET', hash, Member),
  command('HMGET', hash, some(Member)),
  command('HGETALL', hash),
  command('HKEYS', hash),
  command('HVALS', hash),
  command('HDEL', hash, some(Member)),
  command('RPUSH', list, some(Member)),
  command('LLEN', list),
  command('LRANGE', list, Index, Index),
  command('LTRIM', list, Index, Index),
  command('LREM', list, word('1'), Member),
  command('ZADD', scores, maybe(fc.constantFrom('NX', 'XX', 'LT')), some(pair(Score, Member))),
  command('ZREM', scores, some(Member)),
  command('ZSCORE', scores, Member),
  command('ZCARD', scores),
  command('ZRANGEBYSCORE', scores, Edge, Edge, maybe(word('WITHSCORES'))),
  command('ZRANGEBYSCORE', scores, Edge, Edge, word('LIMIT'), fc.constantFrom('0', '1'), Index),
  command('ZREMRANGEBYSCORE', scores, Edge, Edge),
  command('XADD', stream, Id, some(pair(Member, Text))),
  command('XLEN', stream),
  command(
    'XRANGE',
    stream,
    fc.oneof(word('-'), IdEdge),
    fc.oneof(word('+'), IdEdge),
    maybe(
      word('COUNT'),
      Id.map((id) => String(Number.parseInt(id, 10) + 1)),
    ),
  ),
  command(
    'XREVRANGE',
    stream,
    fc.oneof(word('+'), IdEdge),
    fc.oneof(word('-'), IdEdge),
    word('COUNT'),
    word('2'),
  ),
  command('XDEL', stream, some(Id)),
  command('XTRIM', stream, word('MINID'), Id),
  command('SET', text, Text, maybe(word('PX'), word('1000000'))),
  command('SET', text, Text, word('PX'), word('1000000'), word('NX')),
  command('UNLINK', AnyKey),
  command('PEXPIRE', AnyKey, word('1000000')),
  command('PERSIST', AnyKey),
  command('PTTL', AnyKey),
  command('SPUBLISH', Text, Text),
];

/** Removes what Redis does not guarantee: the order of hashes and exact remaining times. */
function comparable([name]: Command, reply: Reply): unknown {
  if (name === 'PTTL') return Number(reply) > 0 ? 'later' : reply;
  if (!['HGETALL', 'HKEYS', 'HVALS'].includes(name)) return reply;
  return (reply as string[]).toSorted();
}

it('commands in memory reply as those of Redis do', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(...ALL), { maxLength: 60, size: 'max' }),
      async (commands) => {
        const keyspace = createKeyspace({ now: Date.now });
        const pipeline = redis.pipeline().flushdb();
        for (const each of commands) pipeline.eval('return redis.call(unpack(ARGV))', 0, ...each);
        const [, ...replies] = (await pipeline.exec()) ?? [];
        for (const [at, each] of commands.entries()) {
          const [error, reply] = replies[at] ?? [];
          const own = (): unknown => comparable(each, keyspace.call(...each));
          if (error) expect(own).toThrow('equal or smaller');
          else
            expect({ each, reply: own() }).toEqual({
              each,
              reply: comparable(each, reply as Reply),
            });
        }
      },
    ),
    { numRuns: 150 },
  );
});

it('each command is compared, but those that tell the time and sweep', () => {
  const compared = new Set(fc.sample(fc.oneof(...ALL), 5_000).map(([name]) => name));
  expect([...COMMANDS.keys()].filter((name) => !compared.has(name))).toEqual(['TIME', 'DBSIZE']);
});
