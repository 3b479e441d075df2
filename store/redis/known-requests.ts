import type { Requests } from '../contract/requests.js';
import type { RedisContext } from './context.js';

export function createRequests({ redis, keys }: Pick<RedisContext, 'redis' | 'keys'>): Requests {
  return {
    claim: async (name, digest, forMs) => {
      const key = keys.request(name);
      const isNew = (await redis.hsetnx(key, 'digest', digest)) === 1;
      // If the process died before it set the expiry, the next request sets it.
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
