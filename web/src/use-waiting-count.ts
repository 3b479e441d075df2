import { useEffect, useState } from 'react';
import { createInbox } from './inbox.js';

const EVERY_MS = 30_000;

/** How many questions wait in all conversations; read again when `version` changes, and each half minute. */
export function useWaitingCount(version: unknown): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      try {
        const sessions = await createInbox().load();
        if (!isOver) setCount(sessions.reduce((sum, { pending }) => sum + pending.length, 0));
      } catch {
        // The inbox itself says why it cannot be read.
      }
    };
    void read();
    const timer = setInterval(() => void read(), EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [version]);
  return count;
}
