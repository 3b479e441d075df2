import { rootOf } from '../../protocol/ids.js';
import type { Sessions, SessionRecord } from '../contract/sessions.js';
import type {
  QuestionCount,
  Waiting,
  WaitingPageOptions,
  WaitingSession,
} from '../contract/waiting.js';
import { formatCursor, parseCursor, nextInOrder, type ScoredMember } from './scored-list.js';
import { asks, isOfTenant, isOwnedBy } from '../record/questions.js';
import type { RedisContext } from './context.js';

/** Number of sessions that `standing` examines, and that `questions` reads at once. */
const LOOKS = 50;
/** Limit on entries examined for one page, since reading also cleans the list. */
const MOST_LOOKS = 500;

/**
 * Lists of sessions that asked people something, by owner and by tenant. The lists are in other slots, so no change of
 * a session can maintain them: `noteAsking` writes them before the question, and readers clean them up. A list may
 * contain too many sessions, never too few.
 */
export function createWaitingIndex(
  { redis, keys, look, now }: Pick<RedisContext, 'redis' | 'keys' | 'look' | 'now'>,
  readCalls: Sessions['withCalls'],
): Waiting & { noteAsking: (sessionId: string) => Promise<void> } {
  /** Returns the owner's list for a session; undefined if the session does not exist. */
  async function listOf(sessionId: string): Promise<string | undefined> {
    const record = await look(sessionId, (session) => session.record);
    if (record?.agent === undefined) return undefined;
    const { owner, tenant } = record;
    return keys.waitingIndex({ owner, ...(tenant !== '' && { tenant }) });
  }

  /**
   * Puts a session on its lists. Its owner's list is also stored by session id, since the session may expire before the
   * lists are cleaned.
   */
  async function put(sessionId: string, options: string[]): Promise<void> {
    const key = await listOf(sessionId);
    if (key === undefined) return;
    const lists = [key, keys.askingSince, keys.tenantWaitingOf(key)];
    await Promise.all([
      redis.hset(keys.askingIndex, sessionId, key),
      ...lists.map((list) => redis.zadd(list, ...options, now(), sessionId)),
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

  /** Reads one page of waiting sessions and removes others from the list. */
  async function readPage(
    key: string,
    belongs: (record: SessionRecord) => boolean,
    { limit, cursor, askedBy = Infinity }: WaitingPageOptions,
  ): ReturnType<Waiting['page']> {
    const sessions: WaitingSession[] = [];
    const start = cursor === undefined ? undefined : parseCursor(cursor);
    let last: ScoredMember | undefined = start && { member: start.sessionId, score: start.at };
    for (let looks = 0; sessions.length < limit && looks < MOST_LOOKS;) {
      const listed = await nextInOrder(redis, key, last, limit - sessions.length);
      const entries = listed.filter(({ score }) => score <= askedBy);
      if (entries.length === 0) return { sessions };
      looks += entries.length;
      last = entries.at(-1);
      const found = await Promise.all(
        entries.map(async ({ member, score: since }) => {
          const calls = await readCalls(member);
          const waits = calls !== undefined && belongs(calls.record) && calls.openCalls.some(asks);
          if (waits) return [{ ...calls, since }];
          await drop(member, [key, keys.askingSince]);
          return [];
        }),
      );
      sessions.push(...found.flat());
    }
    const [behind] = await nextInOrder(redis, key, last, 1);
    if (last === undefined || behind === undefined || behind.score > askedBy) return { sessions };
    return { sessions, cursor: formatCursor({ sessionId: last.member, at: last.score }) };
  }

  return {
    noteAsking: (sessionId) => put(rootOf(sessionId), []),
    note,
    forget: async (sessionId) => {
      const key = (await listOf(sessionId)) ?? (await redis.hget(keys.askingIndex, sessionId));
      if (key === null) return;
      const lists = [key, keys.tenantWaitingOf(key), keys.askingSince];
      await Promise.all([
        ...lists.map((list) => redis.zrem(list, sessionId)),
        redis.hdel(keys.askingIndex, sessionId),
      ]);
    },
    since: async (sessionId) => {
      const score = await redis.zscore(keys.askingSince, rootOf(sessionId));
      return score === null ? undefined : Number(score);
    },
    standing: async () => {
      let oldest: number | undefined;
      for (const { member, score } of await nextInOrder(
        redis,
        keys.askingSince,
        undefined,
        LOOKS,
      )) {
        if (await isAsking(member)) oldest = score;
        else await drop(member, [keys.askingSince]);
        if (oldest !== undefined) break;
      }
      return {
        count: await redis.zcard(keys.askingSince),
        ...(oldest !== undefined && { oldest }),
      };
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
    page: (owner, page) =>
      readPage(keys.waitingIndex(owner), (record) => isOwnedBy(record, owner), page),
    pageOfTenant: (tenant, page) =>
      readPage(keys.tenantWaiting(tenant), (record) => isOfTenant(record, tenant), page),
  };
}
