import type { Database } from './database.js';
import type { Reply } from './reply.js';

/** What stands behind the command's name. How many there are was checked before. */
export type Args = readonly [string, string, string, string, ...string[]];

export interface CommandEntry {
  /** As in Redis: how many words with the name, negative if there may be more. */
  readonly arity: number;
  readonly run: (db: Database, args: Args) => Reply;
}

export type CommandTable = Readonly<Record<string, CommandEntry>>;

/** Places from `from` to before `to` of an inclusive range whose negative ends count from behind. */
export function clampRange(
  start: number,
  stop: number,
  length: number,
): { from: number; to: number } {
  const from = start < 0 ? Math.max(0, length + start) : start;
  const last = stop < 0 ? length + stop : Math.min(stop, length - 1);
  return from > last || from >= length ? { from: 0, to: 0 } : { from, to: last + 1 };
}
