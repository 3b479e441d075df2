import { rootOf } from '../../protocol/ids.js';
import { checkStreamId } from '../record/checked-ids.js';
import { expire } from './expiry.js';
import { closeBatch } from './log.js';
import type { MemoryData } from './memory-data.js';
import { createSession, type MemorySession, type StoreContext } from './session.js';
import { erase } from './transitions/erase.js';
import { isConversation } from './tree.js';

/** Sessions that nobody asks for any more are looked for this often. */
const EXPIRY_CHECK_MS = 60_000;

/**
 * The session or stream of this id, unless its time is over.
 *
 * @throws HelixError `validation_error` for an id that is none
 */
export function findSession(data: MemoryData, id: string): MemorySession | undefined {
  checkStreamId(id);
  const rootId = rootOf(id);
  const root = data.sessions.get(rootId);
  if (root !== undefined && expire(root, data.now())) {
    data.sessions.delete(rootId);
    return undefined;
  }
  return rootId === id ? root : root?.children.get(id);
}

/** Makes one transition, which nothing can come between, and wakes the stream's followers. */
export function change<T>(
  data: MemoryData,
  id: string,
  transition: (session: MemorySession, context: StoreContext) => T,
): T {
  const known = findSession(data, id);
  const session = known ?? createNew(data, id);
  const result = transition(session, { ...data.limits, now: data.now() });
  if (known === undefined && session.root === session && session.stream !== undefined) {
    dropExpired(data);
    data.sessions.set(id, session);
  }
  if (closeBatch(session.log)) data.events.emit(writtenEvent(rootOf(id)), session.log);
  return result;
}

function createNew(data: MemoryData, id: string): MemorySession {
  const rootId = rootOf(id);
  if (rootId === id) return createSession(id);
  return createSession(id, findSession(data, rootId) ?? createSession(rootId));
}

/** Removes a session, its sub-agents' and its stream; harmless when there is none. */
export function eraseSession(data: MemoryData, id: string): void {
  const session = findSession(data, id);
  if (session === undefined) return;
  // A sub-agent's session goes with its conversation.
  if (!isConversation(session)) return;
  change(data, id, erase);
  data.sessions.delete(id);
  data.due.delete(id);
  data.asked.delete(id);
  if (session.run !== undefined) tellOfStop(data, id);
}

/** Calls those who listen for a stop, after the transition. */
export function tellOfStop(data: MemoryData, id: string): void {
  queueMicrotask(() => data.events.emit(stopEvent(rootOf(id))));
}

export function writtenEvent(streamId: string): string {
  return `written:${streamId}`;
}

export function stopEvent(sessionId: string): string {
  return `stop:${sessionId}`;
}

function dropExpired(data: MemoryData): void {
  const now = data.now();
  if (now - data.expiredAt < EXPIRY_CHECK_MS) return;
  data.expiredAt = now;
  for (const id of [...data.sessions.keys()]) findSession(data, id);
}
