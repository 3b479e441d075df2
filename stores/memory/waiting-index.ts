import { rootOf } from '../../protocol/ids.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner, Waiting } from '../contract/waiting.js';
import { readWaitingPage, type WaitingEntry } from '../record/waiting-page.js';
import type { MemoryData } from './memory-data.js';
import { findSession } from './session-access.js';

export interface WaitingIndex extends Waiting {
  /** Before a question is stored. */
  noteAsking: (sessionId: string) => Promise<void>;
}

/** The sessions that asked something. */
export function createWaitingIndex(
  data: MemoryData,
  readCalls: Sessions['withCalls'],
): WaitingIndex {
  const { asked, now } = data;

  function entriesOf({ owner, tenant }: SessionOwner): WaitingEntry[] {
    return [...asked]
      .filter(([sessionId]) => {
        const identity = findSession(data, sessionId)?.identity;
        return identity?.owner === owner && identity.tenant === (tenant ?? '');
      })
      .map(([sessionId, since]) => ({ sessionId, since }))
      .sort(compare);
  }

  return {
    noteAsking: async (sessionId) => {
      asked.set(rootOf(sessionId), now());
    },
    note: async (sessionId) => {
      const rootId = rootOf(sessionId);
      if (findSession(data, rootId) !== undefined && !asked.has(rootId)) asked.set(rootId, now());
    },
    forget: async (sessionId) => {
      asked.delete(sessionId);
    },
    page: (owner, page) =>
      readWaitingPage(
        {
          next: async (after, count) =>
            entriesOf(owner)
              .filter((entry) => after === undefined || compare(entry, after) > 0)
              .slice(0, count),
          readCalls,
          drop: async (sessionId) => {
            asked.delete(sessionId);
          },
        },
        owner,
        page,
      ),
  };
}

function compare(a: WaitingEntry, b: WaitingEntry): number {
  if (a.since !== b.since) return a.since - b.since;
  return a.sessionId < b.sessionId ? -1 : Number(a.sessionId > b.sessionId);
}
