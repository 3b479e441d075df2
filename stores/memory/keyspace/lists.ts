import { clampRange, type Args, type CommandTable } from './command.js';
import type { Database } from './database.js';
import { parseInt64, requireInteger } from './integers.js';
import { noSuchKey, RedisError, wrongArity, type Reply } from './reply.js';

function rpush(db: Database, args: Args): Reply {
  const elements = db.ownOrCreate(args[0], 'list');
  for (let i = 1; i < args.length; i += 1) elements.push(args[i] ?? '');
  return elements.length;
}

function lpush(db: Database, [key, ...added]: Args): Reply {
  const elements = db.ownOrCreate(key, 'list');
  elements.splice(0, 0, ...added.reverse());
  return elements.length;
}

type End = 'head' | 'tail';

function pop(db: Database, args: Args, end: End): Reply {
  const [key, amount] = args;
  if (args.length > 2) throw wrongArity(end === 'head' ? 'lpop' : 'rpop');
  const count = args.length === 2 ? requirePositive(amount) : undefined;
  const stored = db.find(key, 'list');
  if (stored === undefined) return false;
  if (count === 0) return [];
  const elements = db.own(key, stored);
  const popped = take(elements, count ?? 1, end);
  if (elements.length === 0) db.remove(key);
  return count === undefined ? (popped[0] ?? false) : popped;
}

function take(elements: string[], count: number, end: End): string[] {
  if (end === 'head') return elements.splice(0, count);
  return elements.splice(Math.max(0, elements.length - count)).reverse();
}

function requirePositive(text: string): number {
  const count = parseInt64(text);
  if (count === undefined || count < 0) {
    throw new RedisError('ERR value is out of range, must be positive');
  }
  return Number(count);
}

function lrange(db: Database, [key, first, last]: Args): Reply {
  const start = requireInteger(first);
  const stop = requireInteger(last);
  const elements = db.find(key, 'list')?.content ?? [];
  const { from, to } = clampRange(start, stop, elements.length);
  return elements.slice(from, to);
}

function lindex(db: Database, [key, index]: Args): Reply {
  const elements = db.find(key, 'list')?.content;
  return elements?.at(requireInteger(index)) ?? false;
}

function lset(db: Database, [key, index, element]: Args): Reply {
  const stored = db.find(key, 'list');
  if (stored === undefined) throw noSuchKey();
  const given = requireInteger(index);
  const { length } = stored.content;
  const place = given < 0 ? length + given : given;
  if (place < 0 || place >= length) throw new RedisError('ERR index out of range');
  db.own(key, stored)[place] = element;
  return 'OK';
}

function ltrim(db: Database, [key, first, last]: Args): Reply {
  const start = requireInteger(first);
  const stop = requireInteger(last);
  const stored = db.find(key, 'list');
  if (stored === undefined) return 'OK';
  const { from, to } = clampRange(start, stop, stored.content.length);
  if (from === to) db.remove(key);
  else if (to - from < stored.content.length) db.put(key, 'list', stored.content.slice(from, to));
  return 'OK';
}

export const listCommands: CommandTable = {
  RPUSH: { arity: -3, run: rpush },
  LPUSH: { arity: -3, run: lpush },
  LPOP: { arity: -2, run: (db, args) => pop(db, args, 'head') },
  RPOP: { arity: -2, run: (db, args) => pop(db, args, 'tail') },
  LRANGE: { arity: 4, run: lrange },
  LINDEX: { arity: 3, run: lindex },
  LLEN: { arity: 2, run: (db, [key]) => db.find(key, 'list')?.content.length ?? 0 },
  LSET: { arity: 4, run: lset },
  LTRIM: { arity: 4, run: ltrim },
};
