import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { requireInteger } from './numbers.js';
import { noSuchKey, RedisError, unsupported, type Reply } from './reply.js';

function set(db: Database, [key, value, ...options]: Args): Reply {
  let expiresAt: number | undefined;
  let isOnlyIfAbsent = false;
  for (let i = 0; i < options.length; i += 1) {
    if (options[i] === 'NX') isOnlyIfAbsent = true;
    else if (options[i] === 'PX') {
      i += 1;
      expiresAt = db.now() + requirePositive(options[i] ?? '');
    } else throw unsupported(`SET with ${String(options[i])}`);
  }
  if (isOnlyIfAbsent && db.lookup(key) !== undefined) return false;
  db.remove(key);
  db.put(key, 'string', value);
  if (expiresAt !== undefined) db.setExpiry(key, expiresAt);
  return 'OK';
}

function requirePositive(text: string): number {
  const ms = requireInteger(text);
  if (ms <= 0) throw new RedisError("ERR invalid expire time in 'set' command");
  return ms;
}

function del(db: Database, keys: Args): Reply {
  return keys.filter((key) => db.lookup(key) !== undefined && db.remove(key)).length;
}

function rename(db: Database, [from, to]: Args): Reply {
  const stored = db.lookup(from);
  if (stored === undefined) throw noSuchKey();
  if (from !== to) db.rename(from, to, stored);
  return 'OK';
}

function expire(db: Database, [key, amount, ...options]: Args, msPerUnit: number): Reply {
  if (options.length > 0) throw unsupported('EXPIRE with conditions');
  const ms = requireInteger(amount) * msPerUnit;
  if (db.lookup(key) === undefined) return 0;
  if (ms <= 0) db.remove(key);
  else db.setExpiry(key, db.now() + ms);
  return 1;
}

function persist(db: Database, [key]: Args): Reply {
  return db.lookup(key) !== undefined && db.dropExpiry(key) ? 1 : 0;
}

function pttl(db: Database, [key]: Args): Reply {
  if (db.lookup(key) === undefined) return -2;
  const expiry = db.expiryOf(key);
  return expiry === undefined ? -1 : Math.max(0, expiry - db.now());
}

export const keyCommands: CommandTable = {
  SET: { arity: -3, run: set },
  GET: { arity: 2, run: (db, [key]) => db.read(key, 'string') ?? false },
  DEL: { arity: -2, run: del },
  UNLINK: { arity: -2, run: del },
  EXISTS: {
    arity: -2,
    run: (db, keys) => keys.filter((key) => db.lookup(key) !== undefined).length,
  },
  RENAME: { arity: 3, run: rename },
  EXPIRE: { arity: -3, run: (db, args) => expire(db, args, 1000) },
  PEXPIRE: { arity: -3, run: (db, args) => expire(db, args, 1) },
  PERSIST: { arity: 2, run: persist },
  PTTL: { arity: 2, run: pttl },
  DBSIZE: { arity: 1, run: (db) => db.size() },
};
