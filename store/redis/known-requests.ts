import type { Requests } from '../contract/requests.js';
import type { RedisContext } from './context.js';

/** Requests by the hash of who sent them and their key. */
export function createRequests({ redis, keys }: Pick<RedisContext, 'redis' | 'keys'>): Requests {
  return {
    claim: async (name, digest, forMs) => {
      const key = keys.request(name);
      const isNew = (await redis.hsetnx(key, 'digest', digest)) === 1;
      // Of one whose process died in between the time is set by the next request.
      if (isNew || (await redis.pttl(key)) < 0) {
        await redis.pexpire(key, forMs);
      }
      if (isNew) return { kind: 'new' };
      const [known, reply] = await redis.hmget(key, 'digest', 'reply');
      return { kind: 'known', digest: known ?? digest, reply: reply ?? undefined };
    },
    renew: async (name, forMs) => {
      await redis.pexpire(keys.request(name), forMs);
    },
    settle: async (name, reply, forMs) => {
      const key = keys.request(name);
      await redis.hset(key, 'reply', reply);
      await redis.pexpire(key, forMs);
    },
    drop: async (name) => {
      await redis.unlink(keys.request(name));
    },
  };
}
