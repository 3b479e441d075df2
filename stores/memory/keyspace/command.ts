import type { Database } from './database.js';
import type { Reply } from './reply.js';

/** What stands behind the command's name. How many there are was checked before. */
export type Args = readonly [string, string, string, string, ...string[]];

export interface Command {
  /** As in Redis: how many words with the name, negative if there may be more. */
  readonly arity: number;
  readonly run: (db: Database, args: Args) => Reply;
}

/** By their names in upper case. */
export type CommandTable = Readonly<Record<string, Command>>;
