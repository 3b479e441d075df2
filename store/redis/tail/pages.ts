import type { LogEntry, StreamMessage } from '../../../protocol/chunk.js';
import { rootOf } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import { jsonOf, toMessage, writerOf, type StreamEntry } from '../entries.js';
import type { Read } from '../commands.js';
import type { RedisContext } from '../context.js';
import { isLackOfRights } from '../errors.js';
import type { SessionKeys } from '../keys.js';
import { corrupt } from '../../record/corrupt.js';

const ID = /^\d+-0$/;

/** Part of a log, with the sequence of the stream at the same moment. */
export interface LogPart {
  entries: LogEntry[];
  /** Sequence of the stream. */
  sequence: number;
  /** Run id of the Redis server process; '' if unknown. */
  server: string;
}

/** Entries after a sequence (exclusive), at most `limit`. @throws HelixError `corrupt_record` */
export type ReadLog = (streamId: string, fromSequence: number, limit: number) => Promise<LogPart>;

/** Reads pages of a log by plain commands, so that the single thread of Redis does nothing but hand out entries. */
export function createReadLog({ redis, keys }: Pick<RedisContext, 'redis' | 'keys'>): ReadLog {
  let mayAskServer = true;

  async function readPart({ root, stream }: SessionKeys, from: string, limit: number) {
    const replies = await redis.together(
      ['hmget', root, 'seq'],
      ['xrange', stream, from, '+', 'COUNT', limit],
      ...(mayAskServer ? [['info', 'server'] satisfies Read] : []),
    );
    return replies as [[string | null], StreamEntry[], string?];
  }

  async function readAllowed(...which: Parameters<typeof readPart>): ReturnType<typeof readPart> {
    try {
      return await readPart(...which);
    } catch (error) {
      if (!mayAskServer || !isLackOfRights(error)) throw error;
      mayAskServer = false;
      return readPart(...which);
    }
  }

  return async (streamId, fromSequence, limit) => {
    const conversationId = rootOf(streamId);
    const from = `(${String(fromSequence)}-0`;
    const reply = readAllowed(keys.session(conversationId), from, limit);
    const [[sequence], page, info = ''] = await reply;
    const entries = page.map((entry) => toLogEntry(entry, conversationId));
    const newest = Number(sequence);
    if (!Number.isFinite(newest)) throw corrupt('seq');
    return {
      entries,
      // A full Redis refuses transactions, so entries may have arrived since the number was read. Without a number,
      // the record is lost.
      sequence: sequence === null ? 0 : Math.max(newest, entries.at(-1)?.sequence ?? 0),
      server: RUN_ID.exec(info)?.[1] ?? '',
    };
  };
}

/** Entries after a sequence up to and including another one, at most `limit`. @throws HelixError `corrupt_record` */
export type ReadRange = (
  streamId: string,
  fromSequence: number,
  limit: number,
  upTo?: number,
) => Promise<LogEntry[]>;

export function createReadRange({ redis, keys }: Pick<RedisContext, 'redis' | 'keys'>): ReadRange {
  return async (streamId, fromSequence, limit, upTo) => {
    const conversationId = rootOf(streamId);
    const { stream } = keys.session(conversationId);
    const end = upTo === undefined ? '+' : `${String(upTo)}-0`;
    const page = await redis.xrange(stream, `(${String(fromSequence)}-0`, end, 'COUNT', limit);
    return page.map((entry) => toLogEntry(entry, conversationId));
  };
}

const RUN_ID = /^run_id:(\w+)/m;

function toLogEntry([id, fields]: StreamEntry, conversationId: string): LogEntry {
  const message = parseMessage(jsonOf(fields), conversationId);
  if (message === undefined || !ID.test(id)) throw corrupt(`entry ${id}`);
  return { sequence: Number.parseInt(id, 10), writer: writerOf(fields), message };
}

function parseMessage(json: string, conversationId: string): StreamMessage | undefined {
  try {
    return toMessage(JSON.parse(json), conversationId);
  } catch {
    return undefined;
  }
}

/** The entry at an anchor, if it exists, and the following ones. */
export interface LogPage extends LogPart {
  /** True if there may be more. */
  isFull: boolean;
}

export type ReadPage = (streamId: string, anchor: number) => Promise<LogPage>;

/** Reads pages that begin with the entry at the follower's cursor, so that it can be compared. */
export function createReadPage(read: ReadLog): ReadPage {
  return async (streamId, anchor) => {
    const from = Math.max(0, anchor - 1);
    const limit = LIMITS.replayPage + (from < anchor ? 1 : 0);
    const part = await read(streamId, from, limit);
    return { ...part, isFull: part.entries.length >= limit };
  };
}

/**
 * Shares one read among followers that want the same page at the same moment. A read that was sent before a follower
 * asked may lack newer entries, so the follower uses it only if the page is full; otherwise it shares the next read.
 */
export function shareReads(readPage: ReadPage): ReadPage {
  const underWay = new Map<string, Promise<LogPage>>();

  function start(key: string, streamId: string, anchor: number): Promise<LogPage> {
    const read = readPage(streamId, anchor);
    underWay.set(key, read);
    const end = (): void => {
      if (underWay.get(key) === read) underWay.delete(key);
    };
    read.then(end, end);
    return read;
  }

  return async (streamId, anchor) => {
    const key = `${streamId} ${String(anchor)}`;
    const earlier = underWay.get(key);
    if (earlier === undefined) return start(key, streamId, anchor);
    const page = await earlier;
    if (page.isFull) return page;
    return underWay.get(key) ?? start(key, streamId, anchor);
  };
}
