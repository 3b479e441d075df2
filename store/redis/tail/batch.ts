import type { LogEntry } from '../../../protocol/chunk.js';
import { tryParseJson } from '../../../protocol/limits.js';
import { toMessage } from '../entries.js';

/** Published entries, and the sequence before them. */
export interface Batch {
  previous: number;
  entries: LogEntry[];
  /** Length of the published text. */
  size: number;
  /** False for short deltas, which refer to no separately stored result. */
  mayRefer?: boolean;
}

/** Parses a published message; undefined if it was published by another program or truncated. */
export function parseBatch(text: string, conversationId: string): Batch | undefined {
  const parsed = tryParseJson(text);
  if (!Array.isArray(parsed)) return undefined;
  const [previous, published] = parsed as unknown[];
  if (!isSequence(previous) || !Array.isArray(published) || published.length === 0) {
    return undefined;
  }
  const entries: LogEntry[] = [];
  let before = previous;
  let mayRefer = false;
  for (const item of published as unknown[]) {
    const entry = toEntry(item, conversationId);
    if (entry === undefined || entry.sequence <= before) return undefined;
    before = entry.sequence;
    mayRefer ||= !Array.isArray((item as unknown[])[2]);
    entries.push(entry);
  }
  return { previous, entries, size: text.length, mayRefer };
}

function toEntry(item: unknown, conversationId: string): LogEntry | undefined {
  if (!Array.isArray(item)) return undefined;
  const [sequence, writer, stored] = item as unknown[];
  if (!isSequence(sequence) || typeof writer !== 'string') return undefined;
  const message = toMessage(stored, conversationId);
  return message && { sequence, writer, message };
}

function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
