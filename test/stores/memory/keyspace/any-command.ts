import fc from 'fast-check';
import type { Command } from './real-redis.js';

/** An argument; some depend on the command's place in the sequence. */
type Arg = string | ((at: number) => string);
type CommandAt = (at: number) => Command;

const HOSTILE = [
  ...['', '__proto__', 'constructor', 'toString', 'a\0b', '\0', '🙂', '\uffff', 'é\r\n', 'null'],
  ...['x'.repeat(5_000), '[]', '1-0', 'false'],
];

const Text = fc.oneof(
  fc.constantFrom(...HOSTILE, 'a', 'b', 'c'),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.integer({ min: -3, max: 100 }).map(String),
);

/** Few, so that they are met again. */
const Member = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', '10', '9') },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
);

const KEYS = {
  string: ['string', '🙂'],
  hash: ['hash', '__proto__'],
  list: ['list', ''],
  set: ['set', 'constructor'],
  zset: ['zset', 'z\0set'],
  stream: ['stream', 'k'.repeat(2_000), '10'],
};
const ALL_KEYS = Object.values(KEYS).flat();

const AnyKey = fc.constantFrom(...ALL_KEYS);

function keyOf(type: keyof typeof KEYS): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...KEYS[type]) },
    { weight: 1, arbitrary: AnyKey },
  );
}

const Integer = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -6, max: 6 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['9223372036854775807', '-9223372036854775808', '9223372036854775808', '-100', '100'],
      ...['9007199254740993', '-9007199254740993', '99999999999999999999', '123456789012345678'],
      ...['007', '+1', ' 1', '1 ', '', '1.0', 'abc', '-0', '-', '1e2', '1\0'],
    ),
  },
);

const ODD_SCORES = [
  ...['inf', '-inf', '+inf', 'Infinity', 'nan', 'NaN', '1e308', '-1e308', '1e309', '1e-400', '5.'],
  ...['1e-310', '0x10', '0x1p-3', '0x.8', '0x', '.5', '.', '-', '', ' 1', '1 ', '3\0', '1e'],
  ...['9007199254740993', '0.1', '1e21', '123456789012345680000', '3.0e-5', '+2', 'é', '+-1'],
];
const Score = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -3, max: 5 }).map(String) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_SCORES) },
);
const ScoreEdge = fc.oneof(
  { weight: 4, arbitrary: Score },
  { weight: 2, arbitrary: Score.map((score) => `(${score}`) },
  { weight: 2, arbitrary: fc.constantFrom('-inf', '+inf') },
  { weight: 1, arbitrary: fc.constantFrom('(', '((1', '[1', '1x', '\0') },
);

const ODD_IDS = [
  ...['0-0', '0', '0-1', '18446744073709551615-18446744073709551615', '18446744073709551615'],
  ...['18446744073709551616-0', '9007199254740992-1', '9007199254740993-1', '5-9007199254740993'],
  ...['abc', '1-', '-1', '1-1-1', '01-02', ' 3-1', '+7-1', '5--1', '5- -3', '5-\t1', '7-1\0x'],
  ...['', '1-+2', `1-${'0'.repeat(124)}1`, `1-${'0'.repeat(125)}1`, '-\0', '1--05', '1-0x1'],
];
function idOf(ms: number, seq: number): string {
  return `${String(ms)}-${String(seq)}`;
}
const SmallId = fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 2 })).map(([ms, seq]) => idOf(ms, seq));
const NextId = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 2 })).map(
  ([ms, seq]) =>
    (at: number) =>
      idOf(at + ms, seq),
);
const Id: fc.Arbitrary<Arg> = fc.oneof(
  { weight: 8, arbitrary: SmallId },
  { weight: 1, arbitrary: fc.constantFrom('-', '+', ...ODD_IDS) },
);
const IdEdge: fc.Arbitrary<Arg> = fc.oneof(
  { weight: 3, arbitrary: SmallId },
  { weight: 2, arbitrary: SmallId.map((id) => `(${id}`) },
  { weight: 2, arbitrary: fc.nat({ max: 40 }).map(String) },
  { weight: 3, arbitrary: fc.constantFrom('-', '+') },
  { weight: 1, arbitrary: fc.constantFrom('(', '(-', '(+', ...ODD_IDS) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_IDS).map((id) => `(${id}`) },
);

/** Each of its own, so that a comparison of two does not depend on how fast the test is. */
const LaterTtl = fc
  .nat({ max: 3 })
  .map((n) => (at: number) => String((n + 2) * 1_000_000 + at * 100));
const Ttl: fc.Arbitrary<Arg> = fc.oneof(
  { weight: 5, arbitrary: LaterTtl },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['0', '-1', '-1000000', 'abc', '', '9223372036854775807', '9223372036854776'],
      ...['-9223372036854775808', '-9223372036854776', '1.5'],
    ),
  },
);

type Part = fc.Arbitrary<Arg | readonly Arg[]>;

function command(name: string, ...parts: Part[]): fc.Arbitrary<CommandAt> {
  const spelled = fc.constantFrom(name, name.toLowerCase());
  return fc
    .tuple(spelled, fc.tuple(...parts))
    .map(([word, args]) => (at) => [word, ...args.flat().map((arg) => textOf(arg, at))]);
}

function textOf(arg: Arg, at: number): string {
  return typeof arg === 'string' ? arg : arg(at);
}

function some(part: Part, maxLength = 4): Part {
  return fc.array(part, { minLength: 1, maxLength }).map((list) => list.flat());
}

function maybe(...parts: Part[]): Part {
  return fc.oneof(
    fc.constant([]),
    fc.tuple(...parts).map((list) => list.flat()),
  );
}

function word(...words: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...words, ...words.map((text) => text.toLowerCase()));
}

const strings = [
  command('GET', keyOf('string')),
  command('SET', keyOf('string'), Text),
  command(
    'SET',
    keyOf('string'),
    Text,
    fc
      .array(
        fc.oneof(
          word('NX', 'XX', 'KEEPTTL', 'GET', 'ſET', 'NX\0'),
          fc.tuple(word('EX', 'PX'), Ttl),
        ),
      )
      .map((list) => list.flat()),
  ),
  command('INCR', keyOf('string')),
  command('INCRBY', keyOf('string'), Integer),
];

const hash = keyOf('hash');
const hashes = [
  command('HSET', hash, some(fc.tuple(Member, Text))),
  command('HSET', hash, some(Text)),
  command('HSETNX', hash, Member, Text),
  command('HGET', hash, Member),
  command('HMGET', hash, some(Member)),
  command('HGETALL', hash),
  command('HDEL', hash, some(Member)),
  command('HEXISTS', hash, Member),
  command('HINCRBY', hash, Member, Integer),
  command('HKEYS', hash),
  command('HVALS', hash),
  command('HLEN', hash),
  command('HSTRLEN', hash, Member),
];

/** As a rank it overflows in Redis, where the outcome is nobody's intention. */
const LOWEST = '-9223372036854775808';

const list = keyOf('list');
const lists = [
  command('RPUSH', list, some(Member)),
  command('LPUSH', list, some(Member)),
  command('LPOP', list, maybe(Integer)),
  command('RPOP', list, maybe(Integer)),
  command('LRANGE', list, Integer, Integer),
  command('LINDEX', list, Integer),
  command('LLEN', list),
  command('LSET', list, Integer, Member),
  command('LREM', list, Integer, Member),
  command('LTRIM', list, Integer, Integer),
  command('LINSERT', list, word('BEFORE', 'AFTER', 'BESIDE'), Member, Member),
  command(
    'LPOS',
    list,
    Member,
    fc
      .array(
        fc.tuple(
          word('RANK', 'COUNT', 'MAXLEN', 'RANG'),
          Integer.filter((n) => n !== LOWEST),
        ),
      )
      .map((options) => options.flat()),
  ),
];
const set = keyOf('set');
const sets = [
  command('SADD', set, some(Member)),
  command('SREM', set, some(Member)),
  command('SMEMBERS', set),
  command('SISMEMBER', set, Member),
  command('SMISMEMBER', set, some(Member)),
  command('SCARD', set),
];

const zset = keyOf('zset');
const sortedSets = [
  command('ZADD', zset, some(fc.tuple(Score, Member))),
  command(
    'ZADD',
    zset,
    fc.array(word('NX', 'XX', 'GT', 'LT', 'CH', 'INCR'), { maxLength: 3 }).map((o) => o.flat()),
    some(fc.tuple(Score, Member), 2),
  ),
  command('ZREM', zset, some(Member)),
  command('ZSCORE', zset, Member),
  command('ZCARD', zset),
  command('ZRANGE', zset, Integer, Integer, maybe(word('REV')), maybe(word('WITHSCORES'))),
  command('ZRANGE', zset, Integer, Integer, word('LIMIT'), Integer, Integer),
  command('ZRANGEBYSCORE', zset, ScoreEdge, ScoreEdge, maybe(word('WITHSCORES', 'REV'))),
  command('ZRANGEBYSCORE', zset, ScoreEdge, ScoreEdge, word('LIMIT'), Integer, Integer),
  command('ZREMRANGEBYSCORE', zset, ScoreEdge, ScoreEdge),
  command('ZCOUNT', zset, ScoreEdge, ScoreEdge),
];

const stream = keyOf('stream');
const Fields = some(fc.tuple(Member, Text), 2);
const streams = [
  ...[1, 2, 3, 4].map(() => command('XADD', stream, NextId, Fields)),
  command('XADD', stream, Id, Fields),
  command('XADD', stream, NextId, some(Text, 3)),
  command('XRANGE', stream, IdEdge, IdEdge, maybe(word('COUNT', 'KOUNT'), Integer)),
  command('XREVRANGE', stream, IdEdge, IdEdge, maybe(word('COUNT'), Integer)),
  command('XDEL', stream, some(Id)),
  command('XDEL', stream, some(NextId)),
  command('XLEN', stream),
  command('XTRIM', stream, word('MAXLEN'), maybe(fc.constant('=')), Integer),
  command('XTRIM', stream, word('MINID'), maybe(fc.constant('=')), Id),
  command('XTRIM', stream, some(fc.tuple(word('MINID', 'MAXLEN', 'LIMIT', 'NOPE'), Integer))),
];

const keys = [
  command('DEL', some(AnyKey)),
  command('UNLINK', AnyKey),
  command('EXISTS', some(AnyKey)),
  command('TYPE', AnyKey),
  command('RENAME', AnyKey, AnyKey),
  command('EXPIRE', AnyKey, Ttl),
  command('EXPIRE', AnyKey, Ttl, some(word('NX', 'XX', 'GT', 'LT', 'NEVER'), 2)),
  command('PEXPIRE', AnyKey, Ttl, maybe(word('NX', 'XX', 'GT', 'LT'))),
  command('PERSIST', AnyKey),
  command('TTL', AnyKey),
  command('PTTL', AnyKey),
  command('DBSIZE'),
  command('PING', maybe(Text)),
  command('PUBLISH', Text, Text),
  command('SPUBLISH', Text, Text),
  command('FLUSHALL', word('SYNC', 'ASYNC', 'SINK')),
];

const GROUPS = { strings, hashes, lists, sets, sortedSets, streams, keys };
export type Group = keyof typeof GROUPS;

/** Sequences of commands, with a preference for those of one type. */
export function commandsOf(preferred: Group): fc.Arbitrary<Command[]> {
  const any = fc.oneof(...Object.values(GROUPS).flat());
  const Any = fc.oneof(
    { weight: 4, arbitrary: fc.oneof(...GROUPS[preferred]) },
    { weight: 1, arbitrary: any },
  );
  return fc
    .array(Any, { minLength: 1, maxLength: 60, size: 'max' })
    .map((commands) => commands.map((commandAt, at) => commandAt(at)));
}

export const groups = Object.keys(GROUPS) as Group[];
