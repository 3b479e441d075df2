import type { SessionStore } from '../session-store.js';
import type { MemoryData } from './memory-data.js';
import { change } from './session-access.js';
import { noteSnapshot } from './transitions/note-snapshot.js';

type Index = Pick<
  SessionStore,
  'noteActiveSnapshot' | 'dueSessions' | 'forgetDue' | 'noteDue' | 'leaseSweep'
>;

/** What looks after sessions without being part of their state. */
export function createSessionIndex(data: MemoryData): Index {
  const { due, now } = data;
  return {
    noteActiveSnapshot: async (sessionId, turn) => {
      change(data, sessionId, (session, context) => {
        noteSnapshot(session, turn, context);
      });
    },
    noteDue: async (sessionId, inMs) => {
      due.set(sessionId, now() + inMs);
    },
    dueSessions: async (limit, forMs) => {
      const found = [...due]
        .filter(([, at]) => at <= now())
        .sort(([, a], [, b]) => a - b)
        .slice(0, limit)
        .map(([sessionId]) => sessionId);
      for (const sessionId of found) due.set(sessionId, now() + forMs);
      return found;
    },
    forgetDue: async (sessionId) => {
      due.delete(sessionId);
    },
    leaseSweep: async (_holder, forMs) => {
      if (data.sweepLeaseUntil > now()) return false;
      data.sweepLeaseUntil = now() + forMs;
      return true;
    },
  };
}
