import { tryParseJson } from '../../protocol/limits.js';
import type { HeldWork, Leases, LeaseThread, StopNote } from '../contract/leases.js';
import type { RedisContext } from './context.js';

/** Retention and maximum number of stops. */
const STOPS_MS = 5_000;
const MAX_STOPS = 200;
/** Temporal considers a worker alive until it has not polled for 10 s. */
const DIED_MS = 15_000;
/** Retention of a lease's registry after its last change. */
const KEPT_MS = 24 * 60 * 60_000;

type LeaseContext = Pick<RedisContext, 'redis' | 'keys' | 'now'>;

/** Leases in Redis, those of one holder in one slot. A lease is a key that expires, so its time is Redis' own. */
export function createLeases(context: LeaseContext, thread?: LeaseThread, namespace = ''): Leases {
  const { redis, now } = context;
  const { holders: all, stops, died } = context.keys.leases(namespace);
  const of = (holder: string) => context.keys.lease(namespace, holder);
  return {
    of: (other) => createLeases(context, thread, other),
    ...(thread !== undefined && { thread }),
    renew: async (holder, forMs) => {
      const { held, about } = of(holder);
      // In a cluster, only the master of the holder's slot decides whether the lease is renewed.
      const listed = redis.zadd(all, now(), holder).catch(() => 0);
      const noted = redis.lrange(stops, 0, -1).catch((): string[] => []);
      const [, over] = await Promise.all([
        redis.set(held, '1', 'PX', forMs),
        redis.hget(about, 'over'),
      ]);
      await listed;
      return { isOver: over !== null, stops: (await noted).flatMap(toStop) };
    },
    noteStop: async ({ sessionId, runId }) => {
      await Promise.all([
        redis.rpush(stops, JSON.stringify([sessionId, runId])),
        redis.ltrim(stops, -MAX_STOPS, -1),
        redis.pexpire(stops, STOPS_MS),
      ]);
    },
    noteDeath: async () => {
      await redis.set(died, '1', 'PX', DIED_MS);
    },
    hasDeath: async () => (await redis.pttl(died)) > 0,
    holders: () => redis.zrangebyscore(all, '-inf', '+inf'),
    look: async (holder) => {
      const { held, about } = of(holder);
      const [left, ended, over] = await Promise.all([
        redis.pttl(held),
        redis.hget(about, 'ended'),
        redis.hget(about, 'over'),
      ]);
      return { leftMs: Math.max(0, left), isEnded: ended !== null, isOver: over !== null };
    },
    hold: async (holder, work) => {
      const { work: key } = of(holder);
      await Promise.all([
        redis.hset(key, work.id, JSON.stringify(work)),
        redis.pexpire(key, KEPT_MS),
      ]);
    },
    release: async (holder, id) => (await redis.hdel(of(holder).work, id)) === 1,
    work: async (holder) => (await redis.hvals(of(holder).work)).flatMap(toWork),
    registered: async (ids) => {
      const holders = await redis.zrangebyscore(all, '-inf', '+inf');
      const works = await Promise.all(
        holders.map((holder) => redis.hmget(of(holder).work, ...ids)),
      );
      return new Set(ids.filter((_, n) => works.some((work) => work[n] != null)));
    },
    judge: async (holder, forMs) => {
      const { judge, about } = of(holder);
      if ((await redis.set(judge, '1', 'PX', forMs, 'NX')) !== 'OK') return false;
      await note(about, 'over');
      return true;
    },
    end: async (holder) => {
      const { held, about } = of(holder);
      await note(about, 'ended');
      await redis.unlink(held);
    },
    forget: async (holder) => {
      // An empty registry disappears; entries of another build stay.
      const [removed] = await Promise.all([redis.zrem(all, holder), redis.unlink(of(holder).held)]);
      return removed === 1;
    },
  };

  async function note(about: string, what: 'over' | 'ended'): Promise<void> {
    await Promise.all([redis.hset(about, what, String(now())), redis.pexpire(about, KEPT_MS)]);
  }
}

/** Returns none for an unreadable text, which another build wrote and its workers take over. */
function toWork(json: string): HeldWork[] {
  const work = tryParseJson(json) as Partial<HeldWork> | null | undefined;
  const { id, taskToken, workflowId, runId, token, number } = work ?? {};
  const isWhole = [id, taskToken, workflowId, runId].every((text) => typeof text === 'string');
  const isCounted = typeof token === 'number' && typeof number === 'number';
  return isWhole && isCounted ? [work as HeldWork] : [];
}

function toStop(json: string): StopNote[] {
  const note = tryParseJson(json);
  const [sessionId, runId] = Array.isArray(note) ? (note as unknown[]) : [];
  const isWhole = typeof sessionId === 'string' && typeof runId === 'string';
  return isWhole ? [{ sessionId, runId }] : [];
}
