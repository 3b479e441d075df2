import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import type { ControlMessage } from '../../protocol/control-message.js';
import { fromJson, toJson, type Json } from './json.js';

/** One entry as it is kept; what one transition wrote has one `batch` number. */
export interface StoredEntry {
  sequence: number;
  writer: string;
  message: Json<StreamMessage>;
  batch: number;
  /** A control message of the store's own: no chunk. */
  isControl: boolean;
}

/** The log of a stream. The sequence outlives the entries. */
export interface MemoryLog {
  /** In the order of their sequences, with gaps where entries were removed. */
  entries: StoredEntry[];
  /** Of the newest entry ever. */
  sequence: number;
  /** Number of the batch that is being written. */
  batch: number;
  /** When the entries go, ms since the epoch. */
  expiresAt?: number | undefined;
}

export function createLog(): MemoryLog {
  return { entries: [], sequence: 0, batch: 0 };
}

/** Appends one entry under the next sequence; what the store writes by itself has no writer. */
export function write(log: MemoryLog, writer: string, message: Json<StreamMessage>): void {
  push(log, { writer, message, isControl: false });
}

/** Tells readers of the stream itself. */
export function writeControl(log: MemoryLog, message: ControlMessage): void {
  push(log, { writer: '', message: toJson<StreamMessage>(message), isControl: true });
}

function push(log: MemoryLog, entry: Pick<StoredEntry, 'writer' | 'message' | 'isControl'>): void {
  log.sequence += 1;
  log.entries.push({ ...entry, sequence: log.sequence, batch: log.batch });
}

/** Ends the batch; false if nothing was written in it. */
export function closeBatch(log: MemoryLog): boolean {
  if (log.entries.at(-1)?.batch !== log.batch) return false;
  log.batch += 1;
  return true;
}

export function readEntries(log: MemoryLog, fromSequence: number, limit: number): LogEntry[] {
  const start = indexAfter(log.entries, fromSequence);
  return log.entries.slice(start, start + limit).map(toLogEntry);
}

/** About as many entries as wanted: more, if what was written together would be cut. */
export function readBatches(log: MemoryLog, fromSequence: number, wanted: number): LogEntry[] {
  const { entries } = log;
  const start = indexAfter(entries, fromSequence);
  let end = Math.min(start + wanted, entries.length);
  while (end < entries.length && entries[end]?.batch === entries[end - 1]?.batch) end += 1;
  return entries.slice(start, end).map(toLogEntry);
}

/** Removes the entries after a sequence that `isUnwanted` names; returns their sequences. */
export function removeEntries(
  log: MemoryLog,
  fromSequence: number,
  isUnwanted: (entry: StoredEntry) => boolean,
): number[] {
  const removed: number[] = [];
  log.entries = log.entries.filter((entry) => {
    if (entry.sequence <= fromSequence || !isUnwanted(entry)) return true;
    removed.push(entry.sequence);
    return false;
  });
  return removed;
}

/** Removes everything up to a sequence. */
export function trimLog(log: MemoryLog, upTo: number): void {
  log.entries = log.entries.slice(indexAfter(log.entries, upTo));
}

function toLogEntry({ sequence, writer, message }: StoredEntry): LogEntry {
  return { sequence, writer, message: fromJson(message) };
}

/** Index of the first entry after a sequence; entries are sorted by it. */
function indexAfter(entries: readonly StoredEntry[], sequence: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.sequence ?? 0) > sequence) high = middle;
    else low = middle + 1;
  }
  return low;
}
