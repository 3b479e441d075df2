import { createHash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Entry, Read, Write } from '../../session/tree.js';
import type { Backend } from '../change.js';

interface Script {
  code: string;
  sha: string;
}

function script(code: string): Script {
  return { code, sha: createHash('sha1').update(code).digest('hex') };
}

/** Commands as arguments: the number of words of each, then the words. */
const EACH = `
local function each(at, run)
  while at <= #ARGV do
    local words = tonumber(ARGV[at])
    run(redis.call(unpack(ARGV, at + 1, at + words)))
    at = at + 1 + words
  end
end`;

/**
 * load: reads at one moment.
 *
 * Keys: the conversation's record. Arguments: commands that read.
 *
 * @returns version · sequence · time · replies
 */
const LOAD = script(`${EACH}
local replies = {}
each(1, function(reply) replies[#replies + 1] = reply end)
local at = redis.call('HMGET', KEYS[1], 'v', 'seq')
return { at[1] or '', at[2] or '0', redis.call('TIME'), replies }`);

/**
 * commit: writes all or nothing, if the conversation still has the version and the sequence on which that was decided.
 *
 * Keys: the conversation's record. Arguments: version · sequence · name of this commit, the next version · the next
 * sequence · commands that write.
 *
 * @returns 1 if it is stored, now or by the same request before; else 0
 */
const COMMIT = script(`${EACH}
local at = redis.call('HMGET', KEYS[1], 'v', 'seq')
if at[1] == ARGV[3] then return 1 end
if (at[1] or '') ~= ARGV[1] or (at[2] or '0') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 'seq', ARGV[4])
each(5, function() end)
return 1`);

/** Changes on a Redis. @param prefix of all keys */
export function createRedisBackend(redis: Redis, prefix: string): Backend {
  async function evaluate({ sha, code }: Script, key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await redis.evalsha(sha, 1, key, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(code, 1, key, ...args);
    }
  }

  return {
    load: async (conversationId, reads) => {
      const keys = keysOf(prefix, conversationId);
      const { commands, pick } = toReads(keys, reads);
      const loaded = await evaluate(LOAD, keys('', 'record'), commands.flatMap(toArguments));
      const [version, sequence, [seconds, micros], replies] = loaded as [
        ...[string, string, [string, string], unknown[]],
      ];
      return {
        version: `${version} ${sequence}`,
        sequence: Number(sequence),
        now: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000),
        replies: pick(replies),
      };
    },
    commit: async (conversationId, version, writes) => {
      const keys = keysOf(prefix, conversationId);
      const [before = '', sequence = '0'] = version.split(' ');
      const next = randomBytes(9).toString('base64url');
      const last = writes.findLast(([kind]) => kind === 'add')?.[1];
      const newest = last === undefined ? sequence : String(last);
      const commands = toCommands(keys, writes, Number(sequence));
      const args = [before, sequence, next, newest, ...commands.flatMap(toArguments)];
      return (await evaluate(COMMIT, keys('', 'record'), args)) === 1;
    },
  };
}

type Keys = (part: string, name: string) => string;

function keysOf(prefix: string, conversationId: string): Keys {
  const base = `${prefix}:{${conversationId}}:`;
  return (part, name) => (part === '' ? base + name : `${base}${part}:${name}`);
}

function toArguments(command: readonly string[]): string[] {
  return [String(command.length), ...command];
}

/** Commands for reads; fields of one hash are read together. */
function toReads(
  keys: Keys,
  reads: readonly Read[],
): { commands: string[][]; pick: (replies: readonly unknown[]) => unknown[] } {
  const commands: string[][] = [];
  const hashes = new Map<string, number>();
  const picks = reads.map((read): ((replies: readonly unknown[]) => unknown) => {
    if (read[0] === 'field') {
      const key = keys(read[2], read[1]);
      const at = hashes.get(key) ?? commands.push(['HMGET', key]) - 1;
      hashes.set(key, at);
      const field = (commands[at]?.push(read[3]) ?? 0) - 3;
      return (replies) => (replies[at] as unknown[])[field];
    }
    const at = commands.push(toCommand(keys, read)) - 1;
    return read[0] === 'entries' || read[0] === 'entriesBefore'
      ? (replies) => (replies[at] as [string, string[]][]).map(toEntry)
      : (replies) => replies[at];
  });
  return { commands, pick: (replies) => picks.map((pick) => pick(replies)) };
}

function toCommand(keys: Keys, read: Exclude<Read, readonly ['field', ...unknown[]]>): string[] {
  switch (read[0]) {
    case 'fields':
      return ['HGETALL', keys(read[2], read[1])];
    case 'rowCount':
      return ['LLEN', keys(read[1], 'rows')];
    case 'rows':
      return ['LRANGE', keys(read[1], 'rows'), String(read[2]), String(read[3])];
    case 'entries': {
      const upTo = Number.isFinite(read[2]) ? `${String(read[2])}-0` : '+';
      const count = Number.isFinite(read[3]) ? ['COUNT', String(read[3])] : [];
      return ['XRANGE', keys('', 'log'), `(${String(read[1])}-0`, upTo, ...count];
    }
    case 'entriesBefore':
      return ['XREVRANGE', keys('', 'log'), '+', `(${String(read[1])}-0`, 'COUNT', String(read[2])];
    case 'entryCount':
      return ['XLEN', keys('', 'log')];
  }
}

/** An entry has its writer and its message; a delta in its short form only one field, named by the writer. */
function toEntry([id, fields]: [string, string[]]): Entry {
  const [writer, message] = fields.length === 2 ? fields : [fields[1], fields[3]];
  return [Number.parseInt(id, 10), writer ?? '', message ?? ''];
}

function toCommands(keys: Keys, writes: readonly Write[], before: number): string[][] {
  const added = writes.filter((write) => write[0] === 'add');
  const commands = writes.flatMap((write) => toWrites(keys, write));
  if (added.length === 0) return commands;
  const entries = added.map(
    ([, sequence, writer, message]) => `[${String(sequence)},${JSON.stringify(writer)},${message}]`,
  );
  return [...commands, ['SPUBLISH', keys('', 'channel'), `[${String(before)},[${entries.join(',')}]]`]];
}

const KEPT = ['record', 'writers', 'index', 'content', 'runs', 'children', 'rows'];

function toWrites(keys: Keys, write: Write): string[][] {
  switch (write[0]) {
    case 'set':
      return [['HSET', keys(write[2], write[1]), ...write.slice(3)]];
    case 'unset':
      return [['HDEL', keys(write[2], write[1]), ...write.slice(3)]];
    case 'drop':
      return [['UNLINK', keys(write[2], write[1])]];
    case 'push':
      return [['RPUSH', keys(write[1], 'rows'), ...write.slice(2)]] as string[][];
    case 'trim':
      return [
        write[2] === 0
          ? ['UNLINK', keys(write[1], 'rows')]
          : ['LTRIM', keys(write[1], 'rows'), '0', String(write[2] - 1)],
      ];
    case 'add': {
      const [, sequence, writer, message] = write;
      const fields = message.startsWith('[') ? [writer, message] : ['w', writer, 'c', message];
      return [['XADD', keys('', 'log'), `${String(sequence)}-0`, ...fields]];
    }
    case 'remove':
      return [['XDEL', keys('', 'log'), ...write.slice(1).map((sequence) => `${String(sequence)}-0`)]];
    case 'trimLog':
      return [['XTRIM', keys('', 'log'), 'MINID', `${String(write[1])}-0`]];
    case 'page':
      return [['XADD', keys('', 'pages'), `${String(write[2])}-0`, 'from', String(write[1]), 'entries', write[3]]];
    case 'stop':
      return [['SPUBLISH', keys('', 'stop'), write[1]]];
    case 'note':
      return [['RPUSH', keys('', write[1]), write[2]]];
    case 'expire':
      return KEPT.map((name) => ['PEXPIRE', keys(write[1], name), '86400000']);
    case 'expireLog':
      return [['PEXPIRE', keys('', 'log'), String(write[1])]];
    case 'persist':
      return KEPT.map((name) => ['PERSIST', keys(write[1], name)]);
  }
}
