import type { SessionStore } from '../session-store.js';
import { fromJson } from './json.js';
import type { MemoryData } from './memory-data.js';
import { toOpenCall, toRecord } from './record.js';
import { findSession } from './session-access.js';

type Reads = Pick<
  SessionStore,
  'readRecord' | 'readRows' | 'readView' | 'readCall' | 'acceptedMessages'
>;

/** Reads of a session; each is of one moment, and gives copies. */
export function createSessionReads(data: MemoryData): Reads {
  return {
    readRecord: async (sessionId) => toRecord(findSession(data, sessionId), data.now()),
    readRows: async (sessionId, from, to) =>
      (findSession(data, sessionId)?.rows.slice(from, to) ?? []).map(fromJson),
    readView: async (sessionId) => {
      const session = findSession(data, sessionId);
      const record = toRecord(session, data.now());
      if (session === undefined || record === undefined) return undefined;
      return {
        record,
        rows: session.rows.map(fromJson),
        openCalls: [...session.calls.values()].map(toOpenCall),
      };
    },
    readCall: async (sessionId, toolCallId) => {
      const call = findSession(data, sessionId)?.calls.get(toolCallId);
      return call === undefined ? undefined : toOpenCall(call);
    },
    acceptedMessages: async (sessionId, ids) => {
      const accepted = findSession(data, sessionId)?.accepted;
      return ids.filter((id) => accepted?.has(id));
    },
  };
}
