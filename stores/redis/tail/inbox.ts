import type { LogEntry } from '../../../protocol/chunk.js';
import { toMessage } from '../short-deltas.js';

/** What a transition published: entries, and the sequence before them. */
export interface Batch {
  previous: number;
  entries: LogEntry[];
  /** Length of the published text. */
  size: number;
}

/** Parses a published message; undefined if it was published by another program or truncated. */
export function parseBatch(text: string, conversationId: string): Batch | undefined {
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
    const entry = toEntry(item, conversationId);
    if (entry === undefined || entry.sequence <= before) return undefined;
    before = entry.sequence;
    entries.push(entry);
  }
  return { previous, entries, size: text.length };
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

/** Limits for a slow follower; beyond either, it reads the log again. */
const MAX_BATCHES = 256;
const MAX_SIZE = 1024 * 1024;

/** Published batches that a follower has not read yet. Bounded. */
export interface Inbox {
  /** The conversation whose log is followed. */
  conversationId: string;
  offer: (batch: Batch) => void;
  /** Some batches are missing: drops all of them, so that the follower reads the log. */
  miss: () => void;
  /** True once after a miss, and initially. Batches offered from now on are kept. */
  takeMiss: () => boolean;
  first: () => Batch | undefined;
  removeFirst: () => void;
  wake: () => void;
  /** Resolves at the next offer, miss or wake, or after a time; at once if something is here. */
  wait: (ms: number) => Promise<'woken' | 'idle'>;
}

export function createInbox(conversationId: string): Inbox {
  let batches: Batch[] = [];
  let size = 0;
  let hasMissed = true;
  let onEvent: (() => void) | undefined;

  const wake = (): void => onEvent?.();
  const miss = (): void => {
    batches = [];
    size = 0;
    hasMissed = true;
    wake();
  };
  return {
    conversationId,
    offer: (batch) => {
      // The follower is about to read the log, which contains this batch.
      if (hasMissed) return;
      if (batches.length >= MAX_BATCHES || size + batch.size > MAX_SIZE) {
        miss();
        return;
      }
      batches.push(batch);
      size += batch.size;
      wake();
    },
    miss,
    takeMiss: () => {
      const had = hasMissed;
      hasMissed = false;
      return had;
    },
    first: () => batches[0],
    removeFirst: () => {
      size -= batches.shift()?.size ?? 0;
    },
    wake,
    wait: (ms) =>
      new Promise((resolve) => {
        const end = (outcome: 'woken' | 'idle'): void => {
          clearTimeout(timer);
          onEvent = undefined;
          resolve(outcome);
        };
        const timer = setTimeout(end, ms, 'idle');
        onEvent = () => {
          end('woken');
        };
        if (hasMissed || batches.length > 0) end('woken');
      }),
  };
}
