import { rootOf } from '../../protocol/ids.js';
import type { Sessions } from '../contract/sessions.js';
import type { SessionOwner, Waiting } from '../contract/waiting.js';
import { asks, readWaitingPage, type WaitingEntry } from '../record/waiting-page.js';
import type { RedisContext } from './context.js';
import { reach } from './errors.js';
import { nextInOrder } from './scored-list.js';

export interface WaitingIndex extends Waiting {
  /** Before a question is stored: a list may hold too much, never too little. */
  noteAsking: (sessionId: string) => Promise<void>;
}

/**
 * The sessions that asked something, by owner. An owner's list lives in a slot of its own, so no
 * script of a session can keep it: it is written before the question and cleaned by who reads it.
 */
export function createWaitingIndex(
  { redis, keys, now }: Pick<RedisContext, 'redis' | 'keys' | 'now'>,
  readCalls: Sessions['withCalls'],
): WaitingIndex {
  /** The list that a session belongs on; undefined once it is gone. */
  async function listOf(sessionId: string): Promise<string | undefined> {
    const [owner, tenant] = await reach(
      redis.hmget(keys.session(sessionId).root, 'owner', 'tenant'),
    );
    return owner == null
      ? undefined
      : keys.waitingIndex({ owner, ...(tenant != null && { tenant }) });
  }

  /** Which list it is on is kept apart: its record may expire before its owner's list is cleaned. */
  async function put(sessionId: string, options: string[]): Promise<void> {
    const key = await listOf(sessionId);
    if (key === undefined) return;
    await Promise.all([
      reach(redis.hset(keys.askingIndex, sessionId, key)),
      reach(redis.zadd(key, ...options, now(), sessionId)),
    ]);
  }

  const noteWaiting = (sessionId: string): Promise<void> => put(rootOf(sessionId), ['NX']);

  /** A question may be asked between the look and the removal: then its session belongs there. */
  async function drop(key: string, sessionId: string): Promise<void> {
    await reach(redis.zrem(key, sessionId));
    const view = await readCalls(sessionId);
    if (view?.openCalls.some(asks)) await noteWaiting(sessionId);
  }

  async function next(
    key: string,
    after: WaitingEntry | undefined,
    count: number,
  ): Promise<WaitingEntry[]> {
    const behind = after && { member: after.sessionId, score: after.since };
    const found = await nextInOrder(redis, key, behind, count);
    return found.map(({ member, score }) => ({ sessionId: member, since: score }));
  }

  return {
    noteAsking: (sessionId) => put(rootOf(sessionId), []),
    note: noteWaiting,
    forget: async (sessionId) => {
      const key =
        (await listOf(sessionId)) ?? (await reach(redis.hget(keys.askingIndex, sessionId)));
      if (key === null) return;
      await Promise.all([
        reach(redis.zrem(key, sessionId)),
        reach(redis.hdel(keys.askingIndex, sessionId)),
      ]);
    },
    page: (owner: SessionOwner, page) => {
      const key = keys.waitingIndex(owner);
      return readWaitingPage(
        {
          next: (after, count) => next(key, after, count),
          readCalls,
          drop: (sessionId) => drop(key, sessionId),
        },
        owner,
        page,
      );
    },
  };
}
