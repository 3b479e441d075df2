import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { commandTables } from '../../../../stores/memory/keyspace/commands.js';
import { createKeyspace, type Keyspace } from '../../../../stores/memory/keyspace/keyspace.js';
import { RedisError, type Reply } from '../../../../stores/memory/keyspace/reply.js';
import { commandsOf, groups } from './any-command.js';
import { openRealRedis, pairs, sortPairs, type Command, type Outcome } from './real-redis.js';

const redis = openRealRedis(11);

function outcomeOf(keyspace: Keyspace, [name, ...args]: Command): Outcome {
  try {
    return { reply: keyspace.call(name, ...args) };
  } catch (error) {
    if (error instanceof RedisError) return { error: error.message };
    throw error;
  }
}

/** The one error that Redis words differently for a command from a script. */
const FROM_SCRIPT = 'ERR Wrong number of args calling Redis command from script';
const FROM_CLIENT = /^ERR wrong number of arguments for '\w+' command$/;

/** Leaves out what Redis promises nobody: the order of hashes and sets, and what the clock says. */
function comparable([name]: Command, outcome: Outcome): unknown {
  if ('error' in outcome) return { error: outcome.error.replace(FROM_CLIENT, FROM_SCRIPT) };
  const { reply } = outcome;
  switch (name.toUpperCase()) {
    case 'HGETALL':
      return sortPairs(pairs(reply as Reply[]));
    case 'HKEYS':
    case 'HVALS':
    case 'SMEMBERS':
      return (reply as string[]).toSorted();
    case 'TTL':
    case 'PTTL':
      return typeof reply === 'number' && reply > 0 ? 'later' : reply;
    default:
      return reply;
  }
}

async function expectSame(commands: readonly Command[]): Promise<void> {
  const keyspace = createKeyspace({ now: Date.now });
  const theirs = await redis.run(commands);
  for (const [at, command] of commands.entries()) {
    const shown = comparable(command, outcomeOf(keyspace, command));
    const expected = theirs[at];
    if (expected === undefined) throw new Error('A command has no reply');
    expect({ command, outcome: shown }).toEqual({
      command,
      outcome: comparable(command, expected),
    });
  }
  expect(keyspace.dump()).toEqual(await redis.dump());
}

/** What a client is told, where it differs from what a script is told. */
async function expectSameForClient([name, ...args]: Command): Promise<void> {
  const theirs = await redis.client.call(name, ...args).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  expect(theirs).toBeDefined();
  expect(outcomeOf(createKeyspace({ now: Date.now }), [name, ...args])).toEqual({ error: theirs });
}

describe('the keyspace in memory', () => {
  it.each(groups)('answers and holds what Redis does: %s', async (group) => {
    await fc.assert(fc.asyncProperty(commandsOf(group), expectSame), { numRuns: 150 });
  });

  it.each([
    [['GET']],
    [['get', 'a', 'b']],
    [['HSET', 'a', 'b', 'c', 'd']],
    [['XADD', 'a', '1-0', 'b']],
    [['XADD', 'a', '1-0', 'b', 'c', 'd']],
    [['LPOP', 'a', '1', '2']],
    [['PING', 'a', 'b']],
    [['DBSIZE', 'a']],
    [['NOSUCHCOMMAND']],
    [['no\nsuch', 'a', 'b\r\n', 'c'.repeat(200)]],
    [['ſet', 'a', 'b']],
    [['SET', 'a', 'b', 'EX', '0']],
    [['PEXPIRE', 'a', '9223372036854775807']],
  ] as [Command][])('refuses what Redis refuses, with its text: %j', async (command) => {
    await expectSameForClient(command);
  });

  it('wants of every command as many arguments as Redis', async () => {
    const entries = commandTables.flatMap((table) => Object.entries(table));
    const arities = Object.fromEntries(entries.map(([name, { arity }]) => [name, arity]));
    const names = Object.keys(arities);
    const infos = (await redis.client.call('COMMAND', 'INFO', ...names)) as [string, number][];
    expect(Object.fromEntries(infos.map(([name, arity]) => [name.toUpperCase(), arity]))).toEqual(
      arities,
    );
  });

  it('keeps what a number beyond 2^53 is exactly', async () => {
    await expectSame([
      ['SET', 'n', '9007199254740993'],
      ['INCRBY', 'n', '9007199254740993'],
      ['HINCRBY', 'h', 'n', '9223372036854775807'],
      ['HINCRBY', 'h', 'n', '-1'],
      ['HINCRBY', 'h', 'n', '2'],
      ['XADD', 's', '9007199254740992-1', 'a', 'b'],
      ['XADD', 's', '9007199254740993-1', 'a', 'b'],
      ['XRANGE', 's', '(9007199254740992-1', '+'],
      ['XADD', 's', '18446744073709551615-18446744073709551615', 'a', 'b'],
      ['XADD', 's', '18446744073709551615-18446744073709551615', 'a', 'b'],
      ['XRANGE', 's', '(18446744073709551615', '+'],
      ['XREVRANGE', 's', '(18446744073709551615-18446744073709551615', '(9007199254740993'],
    ]);
  });

  it('remembers the last id of a stream that became empty', async () => {
    await expectSame([
      ['XADD', 's', '5-1', 'a', 'b'],
      ['XDEL', 's', '5-1'],
      ['EXISTS', 's'],
      ['XADD', 's', '5-1', 'a', 'b'],
      ['XADD', 's', '5-2', 'a', 'b'],
      ['XTRIM', 's', 'MAXLEN', '0'],
      ['XADD', 's', '5', 'a', 'b'],
      ['DEL', 's'],
      ['XADD', 's', '5', 'a', 'b'],
    ]);
  });

  it('takes an id without its second part for the first or the last one', async () => {
    await expectSame([
      ...['4-9', '5-0', '5-1', '5-2', '6-0'].map((id): Command => ['XADD', 's', id, 'a', 'b']),
      ['XRANGE', 's', '5', '5'],
      ['XRANGE', 's', '(5', '(6'],
      ['XREVRANGE', 's', '(5', '(4'],
      ['XREVRANGE', 's', '5', '5', 'COUNT', '2'],
      ['XTRIM', 's', 'MINID', '5'],
    ]);
  });

  it('orders members of one score by their bytes', async () => {
    const members = [
      '',
      '\0',
      'a',
      'a\0',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '🙂',
      '🙂a',
      '\u{10ffff}',
    ];
    await expectSame([
      ['ZADD', 'z', ...members.toReversed().flatMap((member) => ['1', member])],
      ['ZADD', 'z', '-0', 'zero', '-inf', 'low', '1e308', 'high'],
      ['ZADD', 'z', 'INCR', '1e308', 'high'],
      ['ZADD', 'z', 'INCR', '-inf', 'high'],
      ['ZRANGE', 'z', '0', '-1', 'WITHSCORES'],
      ['ZRANGE', 'z', '1', '5', 'REV'],
      ['ZRANGEBYSCORE', 'z', '(0', '1', 'WITHSCORES', 'LIMIT', '3', '4'],
    ]);
  });

  it('holds large collections as Redis does', async () => {
    const numbers = Array.from({ length: 700 }, (_, n) => String(n));
    const twice = numbers.flatMap((n) => [n, n]);
    const entries = numbers.map((n): Command => ['XADD', 'stream', `${n}-1`, 'field', n]);
    await expectSame([
      ...[['HSET', 'hash', ...twice] as const, ['SADD', 'set', ...numbers] as const],
      ...[['RPUSH', 'list', ...numbers] as const, ['ZADD', 'zset', ...twice] as const],
      ...[['LPUSH', 'list', ...numbers] as const, ...entries],
      ...[['XRANGE', 'stream', '650', '+'] as const, ['XTRIM', 'stream', 'MAXLEN', '333'] as const],
      ...[['XREVRANGE', 'stream', '+', '-', 'COUNT', '7'] as const, ['XLEN', 'stream'] as const],
      ...[['XTRIM', 'stream', 'MINID', '555'] as const, ['XDEL', 'stream', '600-1'] as const],
      ...[['LRANGE', 'list', '-3', '-1'] as const, ['LREM', 'list', '-1', '77'] as const],
      ...[['HDEL', 'hash', ...numbers] as const, ['SREM', 'set', ...numbers] as const],
      ...[['ZREMRANGEBYSCORE', 'zset', '(5', '600'] as const, ['DBSIZE'] as const],
    ]);
  });
});
