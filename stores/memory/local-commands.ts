import type { Commands, Reads } from '../redis/commands.js';
import type { Keyspace } from './keyspace.js';
import type { Reply } from './keyspace.js';

type Arguments = (string | number)[];

/** Commands on an in-process keyspace, with replies in the form of a Redis client. */
export function createLocalCommands(local: Keyspace): Commands {
  const keyspace: Pick<Keyspace, 'call'> = {
    call: (command, ...args) => local.call(command, ...args.map(toWireText)),
  };
  const call = async (command: string, ...args: Arguments): Promise<Reply> =>
    keyspace.call(command, ...args);
  const text = async (command: string, ...args: Arguments): Promise<string | null> =>
    orNull(keyspace.call(command, ...args)) as string | null;
  const number = async (command: string, ...args: Arguments): Promise<number> =>
    keyspace.call(command, ...args) as number;
  const list = async (command: string, ...args: Arguments): Promise<string[]> =>
    keyspace.call(command, ...args) as string[];
  return {
    hgetall: async (key) => toRecord(keyspace.call('HGETALL', key)),
    hget: (key, field) => text('HGET', key, field),
    hset: (key, field, value) => number('HSET', key, field, value),
    hsetnx: (key, field, value) => number('HSETNX', key, field, value),
    hdel: (key, field) => number('HDEL', key, field),
    hincrby: (key, field, by) => number('HINCRBY', key, field, by),
    hmget: async (key, ...fields) => toNullable(keyspace.call('HMGET', key, ...fields)),
    hkeys: (key) => list('HKEYS', key),
    hvals: (key) => list('HVALS', key),
    llen: (key) => number('LLEN', key),
    lrange: (key, from, to) => list('LRANGE', key, from, to),
    set: async (key, value, px, ms, ...nx) =>
      (await text('SET', key, value, px, ms, ...nx)) as 'OK' | null,
    rpush: (key, value) => number('RPUSH', key, value),
    lrem: (key, count, value) => number('LREM', key, count, value),
    ltrim: (key, from, to) => call('LTRIM', key, from, to),
    unlink: (key) => number('UNLINK', key),
    pexpire: (key, ms) => number('PEXPIRE', key, ms),
    pttl: (key) => number('PTTL', key),
    zadd: (key, ...args) => call('ZADD', key, ...args),
    zrem: (key, member) => number('ZREM', key, member),
    zscore: (key, member) => text('ZSCORE', key, member),
    zcard: (key) => number('ZCARD', key),
    zrangebyscore: (key, ...args) => list('ZRANGEBYSCORE', key, ...args),
    xrange: async (...range) => keyspace.call('XRANGE', ...range) as [string, string[]][],
    xrevrange: async (...range) => keyspace.call('XREVRANGE', ...range) as [string, string[]][],
    together: async (add) => {
      const replies: unknown[] = [];
      add(createReads(keyspace, replies));
      return replies;
    },
  };
}

/** Synchronous reads are atomic, since nothing can run between them. */
function createReads(keyspace: Pick<Keyspace, 'call'>, replies: unknown[]): Reads {
  const add = (reply: unknown): Reads => {
    replies.push(reply);
    return reads;
  };
  const reads: Reads = {
    hgetall: (key) => add(toRecord(keyspace.call('HGETALL', key))),
    hmget: (key, ...fields) => add(toNullable(keyspace.call('HMGET', key, ...fields))),
    lrange: (key, from, to) => add(keyspace.call('LRANGE', key, from, to)),
    llen: (key) => add(keyspace.call('LLEN', key)),
    xlen: (key) => add(keyspace.call('XLEN', key)),
    xrange: (key, ...args) => add(keyspace.call('XRANGE', key, ...args)),
    info: () => add(''),
  };
  return reads;
}

function orNull(reply: Reply): Exclude<Reply, false> | null {
  return reply === false ? null : reply;
}

function toNullable(reply: Reply): (string | null)[] {
  return (reply as (string | false)[]).map((value) => (value === false ? null : value));
}

function toRecord(reply: Reply): Record<string, string> {
  const flat = reply as string[];
  const fields: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) fields.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return Object.fromEntries(fields);
}

/** An argument as Redis receives it: UTF-8, which cannot encode lone surrogates. */
function toWireText(argument: string | number): string {
  return String(argument).toWellFormed();
}
