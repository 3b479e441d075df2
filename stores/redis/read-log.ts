import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { RedisContext } from './context.js';
import { corrupt, parseStored } from './stored-json.js';

const LINES_PER_ENTRY = 3;
const ID = /^\d+-0$/;

/** Entries after a sequence (exclusive), at most `limit`. @throws HelixError `corrupt_record` */
export type ReadLog = (
  streamId: string,
  fromSequence: number,
  limit: number,
) => Promise<LogEntry[]>;

/**
 * Reads pages of a log as text. Decoded one by one, ten thousand entries cost the API's only thread
 * twice as long as the rest of a replay.
 */
export function createReadLog({ keys, scripts }: Pick<RedisContext, 'keys' | 'scripts'>): ReadLog {
  return async (streamId, fromSequence, limit) => {
    const { stream } = keys.session(streamId);
    const [text] = await scripts.run('read-page', [stream], [fromSequence, limit]);
    return parsePage(String(text));
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
  return { sequence: Number.parseInt(id, 10), writer, message };
}
