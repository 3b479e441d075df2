import type { Calls } from '../contract/calls.js';
import type { Queue } from '../contract/queue.js';
import type { SessionCalls, Sessions } from '../contract/sessions.js';
import { fromJson } from './json.js';
import type { MemoryData } from './memory-data.js';
import { toOpenCall, toRecord } from './record.js';
import { ownerOf, sessionsBelow } from './tree.js';
import { findSession } from './session-access.js';

interface Reads {
  readRecord: Sessions['read'];
  readRows: Sessions['rows'];
  readView: Sessions['view'];
  readCalls: Sessions['withCalls'];
  readQueue: Queue['read'];
  readCall: Calls['read'];
  acceptedMessages: Sessions['acceptedMessages'];
  readSubAgentCallIds: Calls['readSubAgentIds'];
}

/** Reads of a session; each is of one moment, and gives copies. */
export function createSessionReads(data: MemoryData): Reads {
  const callsOf = (sessionId: string): SessionCalls | undefined => {
    const session = findSession(data, sessionId);
    const record = toRecord(session, data.now());
    if (session === undefined || record === undefined) return undefined;
    const openCalls = [session, ...sessionsBelow(session)].flatMap(({ calls }) =>
      [...calls.values()].map(toOpenCall),
    );
    return { record, openCalls };
  };

  return {
    readRecord: async (sessionId) => toRecord(findSession(data, sessionId), data.now()),
    readRows: async (sessionId, from, to) =>
      (findSession(data, sessionId)?.rows.slice(from, to) ?? []).map(fromJson),
    readCalls: async (sessionId) => callsOf(sessionId),
    readView: async (sessionId) => {
      const calls = callsOf(sessionId);
      const session = findSession(data, sessionId);
      if (session === undefined || calls === undefined) return undefined;
      return { ...calls, rows: session.rows.map(fromJson), queue: session.queue.map(fromJson) };
    },
    readQueue: async (sessionId) => (findSession(data, sessionId)?.queue ?? []).map(fromJson),
    readCall: async (sessionId, toolCallId) => {
      const session = findSession(data, sessionId);
      const call = session && ownerOf(session, toolCallId).calls.get(toolCallId);
      return call === undefined ? undefined : toOpenCall(call);
    },
    readSubAgentCallIds: async (sessionId) => [
      ...(findSession(data, sessionId)?.root.owners.keys() ?? []),
    ],
    acceptedMessages: async (sessionId, ids) => {
      const accepted = findSession(data, sessionId)?.accepted;
      return ids.filter((id) => accepted?.has(id));
    },
  };
}
