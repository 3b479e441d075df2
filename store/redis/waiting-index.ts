import { rootOf } from '../../protocol/ids.js';
import type { Sessions, SessionRecord } from '../contract/sessions.js';
import type {
  QuestionCount,
  Waiting,
  WaitingPage,
  WaitingPageOptions,
} from '../contract/waiting.js';
import { isOfTenant, isOwnedBy } from '../record/ownership.js';
import { asks } from '../record/questions.js';
import type { RedisContext } from './context.js';
import { toOwner } from './keys.js';
import { lowest, readListPage } from './scored-list.js';

/** Number of sessions that `standing` examines, and that `questions` reads at once. */
const LOOKS = 50;

/**
 * Lists of sessions that asked people something, by owner and by tenant. The lists are in other slots, so no change of
 * a session can maintain them: `noteAsking` writes them before the question, and readers clean them up. A list may
 * contain too many sessions, never too few.
 */
export function createWaitingIndex(
  { redis, keys, look, now }: RedisContext,
  readCalls: Sessions['withCalls'],
): Waiting & { noteAsking: (sessionId: string) => Promise<void> } {
  const listsOf = (key: string) => [key, keys.askingSince, keys.tenantWaitingOf(key)];

  async function listOf(sessionId: string): Promise<string | undefined> {
    const record = await look(sessionId, (session) => session.record);
    if (record?.agent === undefined) return undefined;
    return keys.waitingIndex(toOwner(record.owner, record.tenant));
  }

  /** Puts a session on its lists. The owner's is also stored by session id, since the session may expire first. */
  async function put(sessionId: string, options: string[]): Promise<void> {
    const key = await listOf(sessionId);
    if (key === undefined) return;
    await Promise.all([
      redis.hset(keys.askingIndex, sessionId, key),
      ...listsOf(key).map((list) => redis.zadd(list, ...options, now(), sessionId)),
    ]);
  }

  const note = (sessionId: string): Promise<void> => put(rootOf(sessionId), ['NX']);

  const isAsking = async (sessionId: string): Promise<boolean> =>
    (await readCalls(sessionId))?.openCalls.some(asks) === true;

  /** Removes a session from lists. A question asked meanwhile puts it back. */
  async function drop(sessionId: string, lists: readonly string[]): Promise<void> {
    await Promise.all(lists.map((list) => redis.zrem(list, sessionId)));
    if (await isAsking(sessionId)) await note(sessionId);
  }

  /** Reads a page of waiting sessions and removes others from the list. */
  async function readPage(
    key: string,
    belongs: (record: SessionRecord) => boolean,
    { limit, cursor, askedBy: upTo }: WaitingPageOptions,
  ): Promise<WaitingPage> {
    const { items, ...page } = await readListPage(
      redis,
      key,
      { limit, cursor, upTo },
      async (members) => {
        const found = members.map(async ({ member, score: since }) => {
          const calls = await readCalls(member);
          const waits = calls !== undefined && belongs(calls.record) && calls.openCalls.some(asks);
          if (waits) return [{ ...calls, since }];
          await drop(member, [key, keys.askingSince]);
          return [];
        });
        return { items: (await Promise.all(found)).flat(), last: members.at(-1) };
      },
    );
    return { sessions: items, ...page };
  }

  return {
    noteAsking: (sessionId) => put(rootOf(sessionId), []),
    note,
    forget: async (sessionId) => {
      const key = (await listOf(sessionId)) ?? (await redis.hget(keys.askingIndex, sessionId));
      if (key === null) return;
      await Promise.all([
        ...listsOf(key).map((list) => redis.zrem(list, sessionId)),
        redis.hdel(keys.askingIndex, sessionId),
      ]);
    },
    since: async (sessionId) => {
      const score = await redis.zscore(keys.askingSince, rootOf(sessionId));
      return score === null ? undefined : Number(score);
    },
    standing: async () => {
      let oldest: number | undefined;
      for (const { member, score } of await lowest(redis, keys.askingSince, '+inf', LOOKS)) {
        if (await isAsking(member)) oldest = score;
        else await drop(member, [keys.askingSince]);
        if (oldest !== undefined) break;
      }
      const count = await redis.zcard(keys.askingSince);
      return { count, ...(oldest !== undefined && { oldest }) };
    },
    questions: async (max) => {
      const counts = new Map<string, QuestionCount>();
      const waiting = await lowest(redis, keys.askingSince, '+inf', max);
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
    page: (owner, page) =>
      readPage(keys.waitingIndex(owner), (record) => isOwnedBy(record, owner), page),
    pageOfTenant: (tenant, page) =>
      readPage(keys.tenantWaiting(tenant), (record) => isOfTenant(record, tenant), page),
  };
}
