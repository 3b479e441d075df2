import { useEffect, useState } from 'react';
import { createInbox } from './inbox.js';

const EVERY_MS = 30_000;

/**
 * How many questions wait in all conversations, as people write it, or nothing; read again when `version`
 * changes, and each half minute.
 */
export function useWaitingCount(version: unknown): string {
  const [count, setCount] = useState('');
  useEffect(() => {
    let isOver = false;
    const read = async (): Promise<void> => {
      try {
        const { sessions, hasMore } = await createInbox().load();
        const known = sessions.reduce((sum, { pending }) => sum + pending.length, 0);
        if (!isOver) setCount(known === 0 ? '' : `${String(known)}${hasMore ? '+' : ''}`);
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
