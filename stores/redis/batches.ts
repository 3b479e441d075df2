import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';

/** What a script published: the entries, and the sequence before them. */
export interface Batch {
  previous: number;
  entries: LogEntry[];
  /** Length of the published text. */
  size: number;
}

/** Reads a published message; undefined if it is none of the scripts', or was cut. */
export function parseBatch(text: string): Batch | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [previous, published] = parsed as unknown[];
  if (!isSequence(previous) || !Array.isArray(published) || published.length === 0) {
    return undefined;
  }
  const entries: LogEntry[] = [];
  let before = previous;
  for (const item of published as unknown[]) {
    const entry = toEntry(item);
    if (entry === undefined || entry.sequence <= before) return undefined;
    before = entry.sequence;
    entries.push(entry);
  }
  return { previous, entries, size: text.length };
}

function toEntry(item: unknown): LogEntry | undefined {
  if (!Array.isArray(item)) return undefined;
  const [sequence, writer, message] = item as unknown[];
  if (!isSequence(sequence) || typeof writer !== 'string') return undefined;
  if (typeof message !== 'object' || message === null) return undefined;
  // Readers check the shape only: types that they do not know are for newer ones.
  if (typeof (message as { type?: unknown }).type !== 'string') return undefined;
  return { sequence, writer, message: message as StreamMessage };
}

function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
