import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { addInt64, parseInt64, requireInt64 } from './integers.js';
import { RedisError, wrongArity, type Reply } from './reply.js';

function hset(db: Database, args: Args): Reply {
  const [key] = args;
  if (args.length % 2 === 0) throw wrongArity('hset');
  const stored = db.find(key, 'hash');
  // What stays as it is stays shared with forks, and its fingerprint stays.
  if (stored !== undefined && hasAll(stored.content, args)) return 0;
  const fields = db.ownOrCreate(key, 'hash');
  const before = fields.size;
  for (let i = 1; i < args.length; i += 2) fields.set(args[i] ?? '', args[i + 1] ?? '');
  return fields.size - before;
}

function hasAll(fields: ReadonlyMap<string, string>, args: Args): boolean {
  for (let i = 1; i < args.length; i += 2) {
    if (fields.get(args[i] ?? '') !== args[i + 1]) return false;
  }
  return true;
}

function hsetnx(db: Database, [key, field, value]: Args): Reply {
  if (db.find(key, 'hash')?.content.has(field) === true) return 0;
  db.ownOrCreate(key, 'hash').set(field, value);
  return 1;
}

function hget(db: Database, args: Args): Reply {
  return db.find(args[0], 'hash')?.content.get(args[1]) ?? false;
}

function hmget(db: Database, args: Args): Reply {
  const fields = db.find(args[0], 'hash')?.content;
  const values: Reply[] = [];
  for (let i = 1; i < args.length; i += 1) values.push(fields?.get(args[i] ?? '') ?? false);
  return values;
}

function hgetall(db: Database, args: Args): Reply {
  const flat: Reply[] = [];
  const fields = db.find(args[0], 'hash')?.content;
  fields?.forEach((value, field) => {
    flat.push(field, value);
  });
  return flat;
}

function hdel(db: Database, args: Args): Reply {
  const [key, ...names] = args;
  const stored = db.find(key, 'hash');
  if (stored === undefined || !names.some((name) => stored.content.has(name))) return 0;
  const fields = db.own(key, stored);
  const before = fields.size;
  for (const name of names) fields.delete(name);
  if (fields.size === 0) db.remove(key);
  return before - fields.size;
}

function hincrby(db: Database, [key, field, by]: Args): Reply {
  const increment = requireInt64(by);
  const text = db.find(key, 'hash')?.content.get(field) ?? '0';
  const value = parseInt64(text);
  if (value === undefined) throw new RedisError('ERR hash value is not an integer');
  const sum = addInt64(value, increment);
  if (sum === undefined) throw new RedisError('ERR increment or decrement would overflow');
  db.ownOrCreate(key, 'hash').set(field, String(sum));
  return Number(sum);
}

export const hashCommands: CommandTable = {
  HSET: { arity: -4, run: hset },
  HSETNX: { arity: 4, run: hsetnx },
  HGET: { arity: 3, run: hget },
  HMGET: { arity: -3, run: hmget },
  HGETALL: { arity: 2, run: hgetall },
  HDEL: { arity: -3, run: hdel },
  HEXISTS: {
    arity: 3,
    run: (db, [key, field]) => (db.find(key, 'hash')?.content.has(field) === true ? 1 : 0),
  },
  HINCRBY: { arity: 4, run: hincrby },
  HKEYS: { arity: 2, run: (db, [key]) => [...(db.find(key, 'hash')?.content.keys() ?? [])] },
  HVALS: { arity: 2, run: (db, [key]) => [...(db.find(key, 'hash')?.content.values() ?? [])] },
  HLEN: { arity: 2, run: (db, [key]) => db.find(key, 'hash')?.content.size ?? 0 },
  HSTRLEN: {
    arity: 3,
    run: (db, [key, field]) => Buffer.byteLength(db.find(key, 'hash')?.content.get(field) ?? ''),
  },
};
