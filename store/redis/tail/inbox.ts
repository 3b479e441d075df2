import type { Batch } from './batch.js';

/** Limits for a slow follower; beyond either, it reads the log again. */
const MAX_BATCHES = 256;
const MAX_SIZE = 1024 * 1024;

export type Inbox = ReturnType<typeof createInbox>;

/** Creates the queue of a conversation's published batches that a follower has not read yet. Bounded. */
export function createInbox(conversationId: string) {
  let batches: Batch[] = [];
  let size = 0;
  let hasMissed = true;
  let onEvent: (() => void) | undefined;

  const wake = (): void => onEvent?.();
  /** Some batches are missing: drops all of them, so that the follower reads the log. */
  const miss = (): void => {
    batches = [];
    size = 0;
    hasMissed = true;
    wake();
  };
  return {
    conversationId,
    offer: (batch: Batch) => {
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
    /** Returns true once after a miss, and initially. Batches offered from now on are kept. */
    takeMiss: (): boolean => {
      const had = hasMissed;
      hasMissed = false;
      return had;
    },
    first: (): Batch | undefined => batches[0],
    removeFirst: () => {
      size -= batches.shift()?.size ?? 0;
    },
    wake,
    /** Resolves at the next offer, miss or wake, or after a time; at once if a batch or miss is pending. */
    wait: (ms: number): Promise<'woken' | 'idle'> =>
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
