import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import type { Reply } from './reply.js';

function sadd(db: Database, [key, ...added]: Args): Reply {
  const stored = db.find(key, 'set');
  if (stored !== undefined && added.every((member) => stored.content.has(member))) return 0;
  const members = db.ownOrCreate(key, 'set');
  const before = members.size;
  for (const member of added) members.add(member);
  return members.size - before;
}

function srem(db: Database, [key, ...removed]: Args): Reply {
  const stored = db.find(key, 'set');
  if (stored === undefined || !removed.some((member) => stored.content.has(member))) return 0;
  const members = db.own(key, stored);
  const before = members.size;
  for (const member of removed) members.delete(member);
  if (members.size === 0) db.remove(key);
  return before - members.size;
}

function smismember(db: Database, [key, ...asked]: Args): Reply {
  const members = db.find(key, 'set')?.content;
  return asked.map((member) => (members?.has(member) === true ? 1 : 0));
}

export const setCommands: CommandTable = {
  SADD: { arity: -3, run: sadd },
  SREM: { arity: -3, run: srem },
  SMEMBERS: { arity: 2, run: (db, [key]) => [...(db.find(key, 'set')?.content ?? [])] },
  SISMEMBER: {
    arity: 3,
    run: (db, [key, member]) => (db.find(key, 'set')?.content.has(member) === true ? 1 : 0),
  },
  SMISMEMBER: { arity: -3, run: smismember },
  SCARD: { arity: 2, run: (db, [key]) => db.find(key, 'set')?.content.size ?? 0 },
};
