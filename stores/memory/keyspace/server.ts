import type { Args, CommandTable } from './command.js';
import type { Database } from './database.js';
import { syntaxError, wrongArity, type Reply } from './reply.js';
import { isWord } from './text.js';

function time(db: Database): Reply {
  const now = db.now();
  const seconds = Math.floor(now / 1000);
  return [String(seconds), String(Math.floor((now - seconds * 1000) * 1000))];
}

function ping(_: Database, args: Args): Reply {
  if (args.length > 1) throw wrongArity('ping');
  return args.length === 1 ? args[0] : 'PONG';
}

/** Nobody is counted as a subscriber: who hears it is not a matter of what is stored. */
function publish(db: Database, [channel, message]: Args): Reply {
  db.options.publish?.(channel, message);
  return 0;
}

function flushall(db: Database, args: Args): Reply {
  const [mode] = args;
  const isMode = args.length === 1 && (isWord(mode, 'sync') || isWord(mode, 'async'));
  if (args.length > 0 && !isMode) throw syntaxError();
  db.clear();
  return 'OK';
}

export const serverCommands: CommandTable = {
  TIME: { arity: 1, run: time },
  PING: { arity: -1, run: ping },
  PUBLISH: { arity: 3, run: publish },
  SPUBLISH: { arity: 3, run: publish },
  DBSIZE: { arity: 1, run: (db) => db.size() },
  FLUSHALL: { arity: -1, run: flushall },
};
