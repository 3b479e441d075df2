import fc from 'fast-check';
import {
  COMMANDS,
  createKeyspace,
  type Keyspace,
} from '../../../../stores/memory/keyspace/keyspace.js';
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

/** Leaves out what Redis does not promise: the order of hashes and sets, and the time. */
function comparable([name]: Command, outcome: Outcome): unknown {
  if ('error' in outcome) return { error: outcome.error.replace(FROM_CLIENT, FROM_SCRIPT) };
  const { reply } = outcome;
  switch (name) {
    case 'HGETALL':
      return sortPairs(pairs(reply as Reply[]));
    case 'HKEYS':
    case 'HVALS':
      return (reply as string[]).toSorted();
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

/** The reply to a client, where it differs from the reply to a script. */
async function expectSameForClient([name, ...args]: Command): Promise<void> {
  const theirs = await redis.client.call(name, ...args).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
  expect(theirs).toBeDefined();
  expect(outcomeOf(createKeyspace({ now: Date.now }), [name, ...args])).toEqual({ error: theirs });
}

describe('the keyspace in memory', () => {
  it.each(groups)('the keyspace replies and stores as Redis does: %s', async (group) => {
    await fc.assert(fc.asyncProperty(commandsOf(group), expectSame), { numRuns: 150 });
  });

  it.each([
    [['GET']],
    [['GET', 'a', 'b']],
    [['HSET', 'a', 'b', 'c', 'd']],
    [['XADD', 'a', '1-0', 'b']],
    [['XADD', 'a', '1-0', 'b', 'c', 'd']],
    [['DBSIZE', 'a']],
    [['SET', 'a', 'b', 'PX', '0']],
  ] as [Command][])(
    'the keyspace refuses what Redis refuses, with its text: %j',
    async (command) => {
      await expectSameForClient(command);
    },
  );

  it('the keyspace requires as many arguments of every command as Redis', async () => {
    const arities = Object.fromEntries([...COMMANDS].map(([name, { arity }]) => [name, arity]));
    const names = Object.keys(arities);
    const infos = (await redis.client.call('COMMAND', 'INFO', ...names)) as [string, number][];
    expect(Object.fromEntries(infos.map(([name, arity]) => [name.toUpperCase(), arity]))).toEqual(
      arities,
    );
  });

  it('the keyspace remembers the last id of a stream that became empty', async () => {
    await expectSame([
      ['XADD', 's', '5-1', 'a', 'b'],
      ['XDEL', 's', '5-1'],
      ['EXISTS', 's'],
      ['XADD', 's', '5-1', 'a', 'b'],
      ['XADD', 's', '5-2', 'a', 'b'],
      ['XTRIM', 's', 'MINID', '9-0'],
      ['XADD', 's', '5-2', 'a', 'b'],
      ['DEL', 's'],
      ['XADD', 's', '5-2', 'a', 'b'],
    ]);
  });

  it('the keyspace writes scores as Redis does, and orders those of one score by name', async () => {
    const members = ['', '\0', 'a', 'a\0', 'é', '\ud7ff', '🙂', '🙂a', '\u{10ffff}'];
    await expectSame([
      ['ZADD', 'z', ...members.toReversed().flatMap((member) => ['1', member])],
      ['ZADD', 'z', '-0', 'zero', '-inf', 'low', '1e308', 'high', '0.1', 'tenth'],
      ['ZADD', 'z', '1700000000123.5', 'now', '9007199254740991', 'late', '1e-7', 'tiny'],
      ['ZRANGEBYSCORE', 'z', '-inf', '+inf', 'WITHSCORES', 'LIMIT', '0', '100'],
      ['ZRANGEBYSCORE', 'z', '0', '1', 'LIMIT', '0', '4', 'WITHSCORES'],
      ['ZRANGEBYSCORE', 'z', '-inf', '+inf', 'LIMIT', '1', '1'],
      ['ZRANGEBYSCORE', 'z', '-inf', '+inf', 'LIMIT', '1', '-1'],
      ['ZRANGEBYSCORE', 'z', '-inf', '+inf', 'LIMIT', '-1', '1'],
      ['ZADD', 'z', 'NX', '5', 'new', '6', 'new', '7', 'late'],
      ['ZADD', 'z', 'XX', '5', 'newer', '6', 'new', '7', 'new'],
    ]);
  });

  it('the keyspace stores large collections as Redis does', async () => {
    const numbers = Array.from({ length: 700 }, (_, n) => String(n));
    const twice = numbers.flatMap((n) => [n, n]);
    const entries = numbers.map((n): Command => ['XADD', 'stream', `${n}-1`, 'field', n]);
    await expectSame([
      ...[['HSET', 'hash', ...twice] as const, ['SADD', 'set', ...numbers] as const],
      ...[['RPUSH', 'list', ...numbers] as const, ['ZADD', 'zset', ...twice] as const],
      ...[['RPUSH', 'list', ...numbers] as const, ...entries],
      ...[['XRANGE', 'stream', '650-0', '+'] as const, ['XLEN', 'stream'] as const],
      ...[['XREVRANGE', 'stream', '+', '-', 'COUNT', '7'] as const],
      ...[['XTRIM', 'stream', 'MINID', '555-0'] as const, ['XDEL', 'stream', '600-1'] as const],
      ...[['LRANGE', 'list', '-3', '-1'] as const, ['LREM', 'list', '1', '77'] as const],
      ...[['HDEL', 'hash', ...numbers] as const, ['SREM', 'set', ...numbers] as const],
      ...[['ZREMRANGEBYSCORE', 'zset', '5', '600'] as const, ['DBSIZE'] as const],
    ]);
  });
});
