import type { Batch } from './batches.js';

/** Kept for a follower that reads slowly; beyond either, it reads the log again. */
const MAX_BATCHES = 256;
const MAX_SIZE = 1024 * 1024;

/** What was published and one follower has not taken yet. Bounded. */
export interface Inbox {
  offer: (batch: Batch) => void;
  /** What is here does not tell the whole story: forget it and read the log. */
  miss: () => void;
  /** True once after a miss, and at the start. What is offered from now on is kept. */
  takeMiss: () => boolean;
  first: () => Batch | undefined;
  removeFirst: () => void;
  wake: () => void;
  /** Resolves at the next offer, miss or wake, or after a time; at once if there is something. */
  wait: (ms: number) => Promise<'woken' | 'idle'>;
}

export function createInbox(): Inbox {
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
    offer: (batch) => {
      // The log is read after this and will have it.
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
        const end = (how: 'woken' | 'idle'): void => {
          clearTimeout(timer);
          onEvent = undefined;
          resolve(how);
        };
        const timer = setTimeout(end, ms, 'idle');
        onEvent = () => {
          end('woken');
        };
        if (hasMissed || batches.length > 0) end('woken');
      }),
  };
}
