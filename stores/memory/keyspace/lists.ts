import type { Args, CommandTable } from './command.js';
import type { Database, Stored } from './database.js';
import { requireInteger } from './numbers.js';
import { noSuchKey, RedisError, unsupported, type Reply } from './reply.js';

function rpush(db: Database, [key, ...added]: Args): Reply {
  const elements = db.own(key, 'list');
  for (const element of added) elements.push(element);
  return elements.length;
}

function lpop(db: Database, [key, ...count]: Args): Reply {
  if (count.length > 0) throw unsupported('LPOP with a count');
  const stored = db.find(key, 'list');
  return stored === undefined ? false : removeAt(db, key, stored, 0);
}

function lrem(db: Database, [key, count, element]: Args): Reply {
  if (count !== '1') throw unsupported('LREM of another number than 1');
  const stored = db.find(key, 'list');
  const place = stored?.content.indexOf(element) ?? -1;
  if (stored === undefined || place === -1) return 0;
  removeAt(db, key, stored, place);
  return 1;
}

/** Removes an existing element. */
function removeAt(db: Database, key: string, stored: Stored<'list'>, place: number): string {
  const elements = db.own(key, 'list', stored);
  const [removed = ''] = elements.splice(place, 1);
  if (elements.length === 0) db.remove(key);
  return removed;
}

function linsert(db: Database, [key, where, pivot, element]: Args): Reply {
  if (where !== 'BEFORE') throw unsupported(`LINSERT ${where}`);
  const stored = db.find(key, 'list');
  if (stored === undefined) return 0;
  const place = stored.content.indexOf(pivot);
  if (place === -1) return -1;
  const elements = db.own(key, 'list', stored);
  elements.splice(place, 0, element);
  return elements.length;
}

function lset(db: Database, [key, index, element]: Args): Reply {
  const stored = db.find(key, 'list');
  if (stored === undefined) throw noSuchKey();
  const position = requireInteger(index);
  const { length } = stored.content;
  const place = position < 0 ? length + position : position;
  if (place < 0 || place >= length) throw new RedisError('ERR index out of range');
  db.own(key, 'list', stored)[place] = element;
  return 'OK';
}

function lindex(db: Database, [key, index]: Args): Reply {
  return db.read(key, 'list')?.at(requireInteger(index)) ?? false;
}

function lrange(db: Database, [key, first, last]: Args): Reply {
  const slice = sliceOf(first, last);
  return slice(db.read(key, 'list') ?? []);
}

function ltrim(db: Database, [key, first, last]: Args): Reply {
  const slice = sliceOf(first, last);
  const elements = db.read(key, 'list') ?? [];
  const kept = slice(elements);
  if (kept.length === 0) db.remove(key);
  else if (kept.length < elements.length) db.put(key, 'list', kept);
  return 'OK';
}

/** From one position to another, both included; negative positions count from the end. */
function sliceOf(first: string, last: string): (elements: readonly string[]) => string[] {
  const start = requireInteger(first);
  const stop = requireInteger(last);
  return (elements) => {
    const end = stop < 0 ? elements.length + stop + 1 : stop + 1;
    return elements.slice(start, Math.max(0, end));
  };
}

export const listCommands: CommandTable = {
  RPUSH: { arity: -3, run: rpush },
  LPOP: { arity: -2, run: lpop },
  LREM: { arity: 4, run: lrem },
  LINSERT: { arity: 5, run: linsert },
  LSET: { arity: 4, run: lset },
  LINDEX: { arity: 3, run: lindex },
  LRANGE: { arity: 4, run: lrange },
  LTRIM: { arity: 4, run: ltrim },
  LLEN: { arity: 2, run: (db, [key]) => db.read(key, 'list')?.length ?? 0 },
};
