import type { LogEntry } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { RedisConnection } from './clients.js';
import { reach } from './connection.js';
import type { KeySpace } from './keys.js';

/** Part of a log, with where the log stood and on which server. */
export interface LogPage {
  /** The entry at the anchor, if it is there, and what follows it. */
  entries: LogEntry[];
  /** There may be more. */
  isFull: boolean;
  /** Sequence of the stream before the entries were read. */
  sequence: number;
  /** Identifies the run of the server's process; '' if the server does not tell. */
  server: string;
}

export type ReadPage = (streamId: string, anchor: number) => Promise<LogPage>;

export interface Position {
  sequence: number;
  server: string;
}

export type ReadPosition = (streamId: string) => Promise<Position>;

// One script, because a cluster finds the server of a command by its keys, and INFO has none.
const POSITION = `
local info = redis.pcall('INFO', 'server')
local id = type(info) == 'string' and info:match('run_id:(%x+)') or ''
return { redis.call('HGET', KEYS[1], 'seq') or '0', id }`;

/** Reads a stream's sequence and the identity of the server that has it. */
export function createReadPosition(redis: RedisConnection, keys: KeySpace): ReadPosition {
  return async (streamId) => {
    const { root } = keys.session(streamId);
    const reply = (await reach(redis.eval(POSITION, 1, root))) as [string, string];
    return { sequence: Number(reply[0]), server: reply[1] };
  };
}

/** Reads pages; position and entries travel together and are of one server. */
export function createReadPage(
  read: (streamId: string, fromSequence: number, limit: number) => Promise<LogEntry[]>,
  readPosition: ReadPosition,
): ReadPage {
  return async (streamId, anchor) => {
    const from = Math.max(0, anchor - 1);
    const limit = LIMITS.replayPage + (from < anchor ? 1 : 0);
    for (;;) {
      const [before, entries, after] = await Promise.all([
        readPosition(streamId),
        read(streamId, from, limit),
        readPosition(streamId),
      ]);
      // A connection that broke in between may have asked two servers.
      if (before.server !== after.server) continue;
      return { entries, isFull: entries.length >= limit, ...before };
    }
  };
}
