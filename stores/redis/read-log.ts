import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { RedisContext } from './context.js';
import { corrupt, parseStored } from './stored-json.js';
import { toNumber } from './stored-record.js';

const LINES_PER_ENTRY = 3;
const ID = /^\d+-0$/;

/** Part of a log, and where the log stood at the same moment. */
export interface LogPart {
  entries: LogEntry[];
  /** Sequence of the stream. */
  sequence: number;
  /** Identifies the run of the server's process; '' if it does not tell. */
  server: string;
}

/** Entries after a sequence (exclusive), at most `limit`. @throws HelixError `corrupt_record` */
export type ReadLog = (streamId: string, fromSequence: number, limit: number) => Promise<LogPart>;

/**
 * Reads pages of a log as text. Decoded one by one, ten thousand entries cost the API's only thread
 * twice as long as the rest of a replay.
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
  // Readers check the shape only: types that they do not know are for newer ones.
  if (typeof message?.type !== 'string') throw corrupt(`entry ${id}`);
  return { sequence: Number.parseInt(id, 10), writer: toWriter(writer, id), message };
}

/** A name that would not stand on one line is given as JSON. */
function toWriter(text: string, id: string): string {
  return text.startsWith('"') ? (parseStored(text, `writer of entry ${id}`) as string) : text;
}
