import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import type { Reply } from './reply.js';

function sadd(db: Database, [key, ...added]: Args): Reply {
  const stored = db.find(key, 'set');
  if (stored !== undefined && added.every((member) => stored.content.has(member))) return 0;
  const members = db.own(key, 'set', stored);
  const before = members.size;
  for (const member of added) members.add(member);
  return members.size - before;
}

function sismember(db: Database, [key, member]: Args): Reply {
  return db.read(key, 'set')?.has(member) === true ? 1 : 0;
}

export const setCommands: CommandTable = {
  SADD: { arity: -3, run: sadd },
  SREM: { arity: -3, run: (db, [key, ...members]) => db.removeMembers(key, 'set', members) },
  SISMEMBER: { arity: 3, run: sismember },
  SCARD: { arity: 2, run: (db, [key]) => db.read(key, 'set')?.size ?? 0 },
};
