import { rootOf } from '../../protocol/ids.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

type Context = Pick<RedisContext, 'redis' | 'keys' | 'fileStore' | 'now'>;

/** A file may still be being written for this long after it was noted. */
const WRITTEN_MS = 10 * 60_000;
/** Clocks of Redis and of this process differ. */
const AFTER_MS = 1_000;

/**
 * Removes bytes from a store of their own whose files the record has no longer: they expired with the
 * record, or were displaced. Each file is noted in the transition that adds it, and its note goes last.
 */
export function createReclaim({ redis, keys, fileStore, now }: Context) {
  return async (id: string): Promise<number | undefined> => {
    const sessionId = rootOf(id);
    const noted = keys.elsewhere(sessionId);
    // Before the files: what is added in between is in neither.
    const kept = Object.entries(await callRedis(redis.hgetall(noted)));
    if (kept.length === 0) return undefined;
    const { files } = keys.session(sessionId);
    const names = new Set(await callRedis(redis.hkeys(files)));
    let againMs: number | undefined;
    for (const [fileId, at] of kept) {
      if (names.has(`file:${fileId}`)) continue;
      await fileStore.remove({ sessionId, fileId });
      const leftMs = Number(at) + WRITTEN_MS - now();
      if (leftMs <= 0) await callRedis(redis.hdel(noted, fileId));
      else againMs = Math.max(leftMs, againMs ?? 0);
    }
    const left = names.size === 0 ? -1 : await callRedis(redis.pttl(files));
    if (left < 0) return againMs;
    return Math.min(left + AFTER_MS, againMs ?? Infinity);
  };
}
