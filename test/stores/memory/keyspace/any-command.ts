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
      ...['-100', '100', '007', '+1', ' 1', '1 ', '', '1.0', 'abc', '-0', '-', '1e2', '1\0'],
      ...['99999999999999999999'],
    ),
  },
);

const ODD_SCORES = [
  ...['inf', '-inf', '+inf', 'Infinity', 'nan', 'NaN', '1e308', '-1e308', '5.', '.5', '.', '-'],
  ...['9007199254740993', '0.1', '1e21', '1e-7', '+2', '1 ', '1e', 'é', '+-1', '1700000000123.5'],
];
const Score = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -3, max: 5 }).map(String) },
  { weight: 1, arbitrary: fc.integer({ min: -1e9, max: 1e9 }).map((n) => String(n / 1000)) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_SCORES) },
);
const ScoreEdge = fc.oneof(
  { weight: 4, arbitrary: Score },
  { weight: 2, arbitrary: fc.constantFrom('-inf', '+inf') },
);

const ODD_IDS = ['abc', '1-', '-1', '1-1-1', '01-02', '', '9007199254740991-1'];
function idOf(ms: number, seq: number): string {
  return `${String(ms)}-${String(seq)}`;
}
const SmallId = fc
  .tuple(fc.nat({ max: 60 }), fc.integer({ min: 1, max: 3 }))
  .map(([ms, seq]) => idOf(ms, seq));
const NextId = fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 3 })).map(
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
  { weight: 3, arbitrary: fc.constantFrom('-', '+') },
  { weight: 1, arbitrary: fc.constantFrom('(', ...ODD_IDS, ...ODD_IDS.map((id) => `(${id}`)) },
);

/** Each of its own, so that a comparison of two does not depend on how fast the test is. */
const LaterTtl = fc
  .nat({ max: 3 })
  .map((n) => (at: number) => String((n + 2) * 1_000_000 + at * 100));
const Ttl: fc.Arbitrary<Arg> = fc.oneof(
  { weight: 5, arbitrary: LaterTtl },
  { weight: 1, arbitrary: fc.constantFrom('0', '-1', '-1000000', 'abc', '', '1.5') },
);

type Part = fc.Arbitrary<Arg | readonly Arg[]>;

function command(name: string, ...parts: Part[]): fc.Arbitrary<CommandAt> {
  return fc
    .tuple(...parts)
    .map((args) => (at) => [name, ...args.flat().map((arg) => textOf(arg, at))]);
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

function word(text: string): fc.Arbitrary<string> {
  return fc.constant(text);
}

const string = keyOf('string');
const strings = [
  command('GET', string),
  command('SET', string, Text),
  command('SET', string, Text, maybe(word('PX'), Ttl), maybe(word('NX'))),
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
  command('HSTRLEN', hash, Member),
  command('HKEYS', hash),
  command('HVALS', hash),
  command('HLEN', hash),
];

const list = keyOf('list');
const lists = [
  command('RPUSH', list, some(Member)),
  command('LPOP', list),
  command('LRANGE', list, Integer, Integer),
  command('LINDEX', list, Integer),
  command('LLEN', list),
  command('LSET', list, Integer, Member),
  command('LREM', list, word('1'), Member),
  command('LTRIM', list, Integer, Integer),
  command('LINSERT', list, word('BEFORE'), Member, Member),
];

const set = keyOf('set');
const sets = [
  command('SADD', set, some(Member)),
  command('SREM', set, some(Member)),
  command('SISMEMBER', set, Member),
  command('SCARD', set),
];

/** Without what JavaScript and Redis order differently. */
const Ranked = Member.filter((member) => member !== '\uffff');
const zset = keyOf('zset');
const sortedSets = [
  command('ZADD', zset, some(fc.tuple(Score, Ranked))),
  command('ZADD', zset, fc.constantFrom('NX', 'XX', 'LT'), some(fc.tuple(Score, Ranked), 2)),
  command('ZREM', zset, some(Ranked)),
  command('ZSCORE', zset, Ranked),
  command('ZRANGEBYSCORE', zset, ScoreEdge, ScoreEdge, maybe(word('WITHSCORES'))),
  command('ZRANGEBYSCORE', zset, ScoreEdge, ScoreEdge, word('LIMIT'), Integer, Integer),
  command('ZREMRANGEBYSCORE', zset, ScoreEdge, ScoreEdge),
];

const stream = keyOf('stream');
const Fields = some(fc.tuple(Member, Text), 2);
const streams = [
  ...[1, 2, 3, 4].map(() => command('XADD', stream, NextId, Fields)),
  command('XADD', stream, Id, Fields),
  command('XADD', stream, NextId, some(Text, 3)),
  command('XRANGE', stream, IdEdge, IdEdge, maybe(word('COUNT'), Integer)),
  command('XREVRANGE', stream, IdEdge, IdEdge, maybe(word('COUNT'), Integer)),
  command('XDEL', stream, some(Id)),
  command('XDEL', stream, some(NextId)),
  command('XLEN', stream),
  command('XTRIM', stream, word('MINID'), Id),
];

const keys = [
  command('DEL', some(AnyKey)),
  command('UNLINK', AnyKey),
  command('EXISTS', some(AnyKey)),
  command('RENAME', AnyKey, AnyKey),
  command('EXPIRE', AnyKey, Ttl),
  command('PEXPIRE', AnyKey, Ttl),
  command('PERSIST', AnyKey),
  command('PTTL', AnyKey),
  command('DBSIZE'),
  command('SPUBLISH', Text, Text),
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
