import type { LogEntry, StreamMessage } from '../../../protocol/chunk.js';
import { rootOf } from '../../../protocol/ids.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { RedisContext } from '../context.js';
import { corrupt, parseStored } from '../stored-json.js';
import { toNumber } from '../stored-record.js';

const LINES_PER_ENTRY = 3;
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

/**
 * Reads pages of a log as text. Decoding ten thousand entries one by one would take the API's only
 * thread twice as long as the rest of a replay.
 */
export function createReadLog({ transitions }: Pick<RedisContext, 'transitions'>): ReadLog {
  return async (streamId, fromSequence, limit) => {
    const reply = await transitions.readPage(rootOf(streamId), fromSequence, limit);
    const [text = '', sequence = '0', server = ''] = reply;
    return { entries: parsePage(text), sequence: toNumber('seq', sequence), server };
  };
}

function parsePage(text: string): LogEntry[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const entries: LogEntry[] = [];
  for (let at = 0; at < lines.length; at += LINES_PER_ENTRY) {
    entries.push(toLogEntry(lines[at] ?? '', lines[at + 1] ?? '', lines[at + 2]));
  }
  return entries;
}

function toLogEntry(id: string, writer: string, json: string | undefined): LogEntry {
  if (!ID.test(id)) throw corrupt(`entry ${id}`);
  const message = parseStored(json, `entry ${id}`) as StreamMessage | null;
  // Only the shape is checked; unknown types are for newer readers.
  if (typeof message?.type !== 'string') throw corrupt(`entry ${id}`);
  return { sequence: Number.parseInt(id, 10), writer: toWriter(writer, id), message };
}

/** A name with line breaks is written as JSON. */
function toWriter(text: string, id: string): string {
  return text.startsWith('"') ? (parseStored(text, `writer of entry ${id}`) as string) : text;
}

/** The entry at an anchor, if it exists, and what follows it. */
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
 * Shares one read among followers that want the same page at the same moment. A read that was sent
 * before a follower asked may lack newer entries, so the follower uses it only if the page is full;
 * otherwise it shares the next read.
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
