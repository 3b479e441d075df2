import type { StreamManager } from '../../store/log/stream-manager.js';
import type { Writer } from '../../store/contract/log.js';
import type { Store } from '../../store/contract/store.js';
import { drive, type SessionDriver } from './session-driver.js';

/** A session with a step in progress, for tests of its log. */
export interface Speaker {
  session: SessionDriver;
  runId: string;
  writer: Writer;
  /** Writes each text separately, in order. */
  say: (...texts: string[]) => Promise<void>;
}

export async function openSpeaker(
  stores: { store: Store; streamManager: StreamManager },
  sessionId?: string,
): Promise<Speaker> {
  const session = drive(stores, sessionId);
  const speaking = await session.claimed();
  let batch = 0;
  return {
    session,
    ...speaking,
    say: async (...texts) => {
      for (const text of texts) {
        const result = await session.say(speaking.writer, (batch += 1), text);
        if (result.kind !== 'appended') throw new Error(`append replied ${result.kind}`);
      }
    },
  };
}

/** Returns distinct texts, so that lost, repeated and swapped ones show. */
export function words(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, n) => `${String(from + n)} `);
}
