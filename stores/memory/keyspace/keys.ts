import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { noSuchKey, type Reply } from './reply.js';

function del(db: Database, args: Args): Reply {
  let removed = 0;
  for (const key of args) {
    if (db.lookup(key) !== undefined && db.remove(key)) removed += 1;
  }
  return removed;
}

function exists(db: Database, args: Args): Reply {
  let found = 0;
  for (const key of args) {
    if (db.lookup(key) !== undefined) found += 1;
  }
  return found;
}

function rename(db: Database, [from, to]: Args): Reply {
  const stored = db.lookup(from);
  if (stored === undefined) throw noSuchKey();
  if (from !== to) db.rename(from, to, stored);
  return 'OK';
}

export const keyCommands: CommandTable = {
  DEL: { arity: -2, run: del },
  UNLINK: { arity: -2, run: del },
  EXISTS: { arity: -2, run: exists },
  TYPE: { arity: 2, run: (db, [key]) => db.lookup(key)?.type ?? 'none' },
  RENAME: { arity: 3, run: rename },
};
