import { Redis } from 'ioredis';
import type { Reply } from '../../../../stores/memory/keyspace/reply.js';
import { sharedRedisUrl } from '../../../support/test-stores.js';

export type Command = readonly [name: string, ...args: string[]];

/** A reply, or the text of an error. */
export type Outcome = { reply: Reply } | { error: string };

/** Runs one command and says of which kind the reply is for Lua, which RESP does not tell. */
const CALL = `
local function show(reply)
  if type(reply) == 'number' then return { 'number', string.format('%.17g', reply) } end
  if type(reply) == 'string' then return { 'string', reply } end
  if not reply then return { 'false' } end
  if reply.err then return { 'error', reply.err } end
  if reply.ok then return { 'string', reply.ok } end
  local shown = { 'array' }
  for i = 1, #reply do shown[i + 1] = show(reply[i]) end
  return shown
end
return show(redis.pcall(unpack(ARGV)))`;

const DUMP = `
local readers = {
  string = function(key) return { redis.call('GET', key) } end,
  list = function(key) return redis.call('LRANGE', key, 0, -1) end,
  set = function(key) return redis.call('SMEMBERS', key) end,
  zset = function(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end,
  hash = function(key) return redis.call('HGETALL', key) end,
  stream = function(key)
    local info = redis.call('XINFO', 'STREAM', key)
    local at = {}
    for i = 1, #info, 2 do at[info[i]] = info[i + 1] end
    return { at['last-generated-id'], redis.call('XRANGE', key, '-', '+') }
  end,
}
local dump = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local type = redis.call('TYPE', key).ok
  dump[#dump + 1] = { key, type, readers[type](key), redis.call('PTTL', key) }
end
return dump`;

/** A real Redis whose replies can be compared with those of the keyspace in memory. */
export interface RealRedis {
  client: Redis;
  /** Begins with nothing stored. */
  run: (commands: readonly Command[]) => Promise<Outcome[]>;
  dump: () => Promise<Record<string, unknown>>;
}

/** In a database of the shared server that no other test file uses. */
export function openRealRedis(database: number): RealRedis {
  const client = new Redis(sharedRedisUrl(), { db: database });
  afterAll(async () => {
    await client.flushdb();
    client.disconnect();
  });
  return {
    client,
    run: async (commands) => {
      const pipeline = client.pipeline().flushdb();
      for (const command of commands) pipeline.eval(CALL, 0, ...command);
      const [, ...replies] = (await pipeline.exec()) ?? [];
      return replies.map(([error, shown]) => {
        if (error !== null) throw error;
        return outcomeOf(shown as Shown);
      });
    },
    dump: async () => dumpOf((await client.eval(DUMP, 0)) as DumpedKey[]),
  };
}

type Shown = ['number' | 'string' | 'error', string] | ['false'] | ['array', ...Shown[]];

function outcomeOf(shown: Shown): Outcome {
  return shown[0] === 'error' ? { error: shown[1] } : { reply: replyOf(shown) };
}

function replyOf(shown: Shown): Reply {
  switch (shown[0]) {
    case 'number':
      return Number(shown[1]);
    case 'array':
      return shown.slice(1).map((element) => replyOf(element as Shown));
    case 'false':
      return false;
    default:
      return shown[1];
  }
}

type DumpedKey = [key: string, type: string, value: unknown[], pttl: number];

function dumpOf(keys: readonly DumpedKey[]): Record<string, unknown> {
  return Object.fromEntries(
    keys.map(([key, type, value, pttl]) => [
      key,
      { type, value: valueOf(type, value), expires: pttl !== -1 },
    ]),
  );
}

function valueOf(type: string, value: unknown[]): unknown {
  switch (type) {
    case 'string':
      return value[0];
    case 'set':
      return value.sort();
    case 'zset':
      return pairs(value);
    case 'hash':
      return sortPairs(pairs(value));
    case 'stream':
      return { lastId: value[0], entries: value[1] };
    default:
      return value;
  }
}

export function pairs(flat: readonly unknown[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [
    flat[2 * i] as string,
    flat[2 * i + 1] as string,
  ]);
}

export function sortPairs(list: [string, string][]): [string, string][] {
  return list.sort(([a], [b]) => (a < b ? -1 : 1));
}
