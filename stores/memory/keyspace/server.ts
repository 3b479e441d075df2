import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import type { Reply } from './reply.js';

function time(db: Database): Reply {
  const now = db.now();
  const seconds = Math.floor(now / 1000);
  return [String(seconds), String((now - seconds * 1000) * 1000)];
}

/** Always 0: subscribers are not part of the stored data. */
function publish(db: Database, [channel, message]: Args): Reply {
  db.options.publish?.(channel, message);
  return 0;
}

export const serverCommands: CommandTable = {
  TIME: { arity: 1, run: time },
  SPUBLISH: { arity: 3, run: publish },
};
