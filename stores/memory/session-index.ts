import type { Due } from '../contract/due.js';
import type { Sessions } from '../contract/sessions.js';
import type { MemoryData } from './memory-data.js';
import { change } from './session-access.js';
import { noteSnapshot } from './transitions/note-snapshot.js';

type Index = Due & Pick<Sessions, 'noteActiveSnapshot'>;

/** What looks after sessions without being part of their state. */
export function createSessionIndex(data: MemoryData): Index {
  const { due, now } = data;
  return {
    noteActiveSnapshot: async (sessionId, turn) => {
      change(data, sessionId, (session, context) => {
        noteSnapshot(session, turn, context);
      });
    },
    note: async (sessionId, inMs) => {
      due.set(sessionId, now() + inMs);
    },
    take: async (limit, forMs) => {
      const found = [...due]
        .filter(([, at]) => at <= now())
        .sort(([, a], [, b]) => a - b)
        .slice(0, limit)
        .map(([sessionId]) => sessionId);
      for (const sessionId of found) due.set(sessionId, now() + forMs);
      return found;
    },
    forget: async (sessionId) => {
      due.delete(sessionId);
    },
    leaseSweep: async (_holder, forMs) => {
      if (data.sweepLeaseUntil > now()) return false;
      data.sweepLeaseUntil = now() + forMs;
      return true;
    },
  };
}
