import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { requireInteger } from './numbers.js';
import { RedisError, wrongArity, type Reply } from './reply.js';

function hset(db: Database, args: Args): Reply {
  const [key] = args;
  if (args.length % 2 === 0) throw wrongArity('HSET');
  const stored = db.find(key, 'hash');
  // An unchanged value stays shared between forks and keeps its fingerprint.
  if (stored !== undefined && hasAll(stored.content, args)) return 0;
  const fields = db.own(key, 'hash', stored);
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
  const stored = db.find(key, 'hash');
  if (stored?.content.has(field) === true) return 0;
  db.own(key, 'hash', stored).set(field, value);
  return 1;
}

function hincrby(db: Database, [key, field, by]: Args): Reply {
  const increment = requireInteger(by);
  const stored = db.find(key, 'hash');
  const value = stored?.content.get(field) ?? '0';
  const sum = requireInteger(value, 'ERR hash value is not an integer') + increment;
  if (!Number.isSafeInteger(sum)) {
    throw new RedisError('ERR increment or decrement would overflow');
  }
  db.own(key, 'hash', stored).set(field, String(sum));
  return sum;
}

function hmget(db: Database, [key, ...names]: Args): Reply {
  const fields = db.read(key, 'hash');
  return names.map((name) => fields?.get(name) ?? false);
}

function hgetall(db: Database, [key]: Args): Reply {
  const flat: string[] = [];
  for (const [field, value] of db.read(key, 'hash') ?? []) flat.push(field, value);
  return flat;
}

export const hashCommands: CommandTable = {
  HSET: { arity: -4, run: hset },
  HSETNX: { arity: 4, run: hsetnx },
  HINCRBY: { arity: 4, run: hincrby },
  HDEL: { arity: -3, run: (db, [key, ...names]) => db.removeMembers(key, 'hash', names) },
  HGET: { arity: 3, run: (db, [key, field]) => db.read(key, 'hash')?.get(field) ?? false },
  HMGET: { arity: -3, run: hmget },
  HGETALL: { arity: 2, run: hgetall },
  HEXISTS: {
    arity: 3,
    run: (db, [key, field]) => (db.read(key, 'hash')?.has(field) === true ? 1 : 0),
  },
  HKEYS: { arity: 2, run: (db, [key]) => [...(db.read(key, 'hash')?.keys() ?? [])] },
  HVALS: { arity: 2, run: (db, [key]) => [...(db.read(key, 'hash')?.values() ?? [])] },
  HSTRLEN: {
    arity: 3,
    run: (db, [key, field]) => Buffer.byteLength(db.read(key, 'hash')?.get(field) ?? ''),
  },
  HLEN: { arity: 2, run: (db, [key]) => db.read(key, 'hash')?.size ?? 0 },
};
