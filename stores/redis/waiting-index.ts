import { rootOf } from '../../protocol/ids.js';
import type { Sessions } from '../contract/sessions.js';
import type { QuestionCount, SessionOwner, Waiting } from '../contract/waiting.js';
import {
  asks,
  isOfTenant,
  isOwnedBy,
  readWaitingPage,
  type WaitingEntry,
  type WaitingList,
} from '../record/waiting-page.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { nextInOrder } from './scored-list.js';

export interface WaitingIndex extends Waiting {
  /** Called before a question is stored: a list may contain too many sessions, never too few. */
  noteAsking: (sessionId: string) => Promise<void>;
}

/** Sessions that one look at the whole may find answered, and takes off. */
const LOOKS = 50;

/**
 * Sessions that have asked people something, by owner and by tenant. These lists are in other slots,
 * so no transition of a session can maintain them: they are written before the question and cleaned
 * up by their readers.
 */
export function createWaitingIndex(
  { redis, keys, look, now }: Pick<RedisContext, 'redis' | 'keys' | 'look' | 'now'>,
  readCalls: Sessions['withCalls'],
): WaitingIndex {
  /** The owner's list that a session belongs on; undefined if the session does not exist. */
  async function listOf(sessionId: string): Promise<string | undefined> {
    const record = await look(sessionId, (session) => session.record);
    if (record?.agent === undefined) return undefined;
    const { owner, tenant } = record;
    return keys.waitingIndex({ owner, ...(tenant !== '' && { tenant }) });
  }

  /**
   * The owner's list is also stored by session, since the session may expire before the lists are
   * cleaned.
   */
  async function put(sessionId: string, options: string[]): Promise<void> {
    const key = await listOf(sessionId);
    if (key === undefined) return;
    await Promise.all([
      callRedis(redis.hset(keys.askingIndex, sessionId, key)),
      callRedis(redis.zadd(key, ...options, now(), sessionId)),
      callRedis(redis.zadd(keys.askingSince, ...options, now(), sessionId)),
      callRedis(redis.zadd(keys.tenantWaitingOf(key), ...options, now(), sessionId)),
    ]);
  }

  const noteWaiting = (sessionId: string): Promise<void> => put(rootOf(sessionId), ['NX']);

  /** A question may be asked between reading and removing: the session is then listed again. */
  async function drop(key: string, sessionId: string): Promise<void> {
    await Promise.all([
      callRedis(redis.zrem(key, sessionId)),
      callRedis(redis.zrem(keys.askingSince, sessionId)),
    ]);
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
        (await listOf(sessionId)) ?? (await callRedis(redis.hget(keys.askingIndex, sessionId)));
      if (key === null) return;
      await Promise.all([
        callRedis(redis.zrem(key, sessionId)),
        callRedis(redis.zrem(keys.tenantWaitingOf(key), sessionId)),
        callRedis(redis.hdel(keys.askingIndex, sessionId)),
        callRedis(redis.zrem(keys.askingSince, sessionId)),
      ]);
    },
    since: async (sessionId) => {
      const score = await callRedis(redis.zscore(keys.askingSince, rootOf(sessionId)));
      return score === null ? undefined : Number(score);
    },
    standing: async () => {
      for (const { member, score } of await nextInOrder(
        redis,
        keys.askingSince,
        undefined,
        LOOKS,
      )) {
        const view = await readCalls(member);
        if (view?.openCalls.some(asks)) {
          return { count: await callRedis(redis.zcard(keys.askingSince)), oldest: score };
        }
        await callRedis(redis.zrem(keys.askingSince, member));
        // It may have asked again meanwhile.
        if ((await readCalls(member))?.openCalls.some(asks)) await noteWaiting(member);
      }
      return { count: await callRedis(redis.zcard(keys.askingSince)) };
    },
    questions: async (most) => {
      const counts = new Map<string, QuestionCount>();
      const waiting = await nextInOrder(redis, keys.askingSince, undefined, most);
      for (let at = 0; at < waiting.length; at += LOOKS) {
        const views = await Promise.all(
          waiting.slice(at, at + LOOKS).map(({ member }) => readCalls(member)),
        );
        for (const view of views) {
          for (const { spec } of view?.openCalls.filter(asks) ?? []) {
            const { agent = '' } = view?.record ?? {};
            const kind = spec.kind === 'client' ? 'client' : 'approval';
            const key = JSON.stringify([agent, kind]);
            const { count = 0 } = counts.get(key) ?? {};
            counts.set(key, { agent, kind, count: count + 1 });
          }
        }
      }
      return [...counts.values()];
    },
    page: (owner: SessionOwner, page) =>
      readWaitingPage(
        listAt(keys.waitingIndex(owner), (record) => isOwnedBy(record, owner)),
        page,
      ),
    pageOfTenant: (tenant, page) =>
      readWaitingPage(
        listAt(keys.tenantWaiting(tenant), (record) => isOfTenant(record, tenant)),
        page,
      ),
  };

  function listAt(key: string, belongs: WaitingList['belongs']): WaitingList {
    return {
      next: (after, count) => next(key, after, count),
      readCalls,
      belongs,
      drop: (sessionId) => drop(key, sessionId),
    };
  }
}
