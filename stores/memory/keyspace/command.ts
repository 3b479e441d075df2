import type { Database } from './database.js';
import type { Reply } from './reply.js';

/** The arguments after the command's name; their number was already checked. */
export type Args = readonly [string, string, string, string, ...string[]];

export interface Command {
  /** As in Redis: number of words including the name, negative for a minimum. */
  readonly arity: number;
  readonly run: (db: Database, args: Args) => Reply;
}

/** Commands by upper-case name. */
export type CommandTable = Readonly<Record<string, Command>>;
