import { LIMITS } from '../../protocol/limits.js';
import type { LogPart, ReadLog } from './read-log.js';

/** The entry at an anchor, if it is there, and what follows it. */
export interface LogPage extends LogPart {
  /** There may be more. */
  isFull: boolean;
}

export type ReadPage = (streamId: string, anchor: number) => Promise<LogPage>;

/** Reads pages that begin with the entry which a follower has, so that it can be compared. */
export function createReadPage(read: ReadLog): ReadPage {
  return async (streamId, anchor) => {
    const from = Math.max(0, anchor - 1);
    const limit = LIMITS.replayPage + (from < anchor ? 1 : 0);
    const part = await read(streamId, from, limit);
    return { ...part, isFull: part.entries.length >= limit };
  };
}
