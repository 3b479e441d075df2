import type { Requests } from '../contract/requests.js';
import type { RedisContext } from './context.js';
import { untilWritten, type Write } from './write-if.js';

export function createRequests({
  redis,
  keys,
  writeIf,
}: Pick<RedisContext, 'redis' | 'keys' | 'writeIf'>): Requests {
  return {
    claim: (name, digest, forMs) => {
      const key = keys.request(name);
      const writes: Write[] = [
        ['HSET', key, 'digest', digest],
        ['PEXPIRE', key, forMs],
      ];
      return untilWritten(async () => {
        const [known, reply] = await redis.hmget(key, 'digest', 'reply');
        if (known != null) return { kind: 'known', digest: known, reply: reply ?? undefined };
        // A full store still takes answers, stops and erasures, which may have keys.
        const isNew = await writeIf([['', 'HGET', key, 'digest']], writes, { isFreeing: true });
        return isNew ? { kind: 'new' } : undefined;
      });
    },
    renew: async (name, forMs) => {
      await redis.pexpire(keys.request(name), forMs);
    },
    settle: async (name, reply, forMs, digest) => {
      const key = keys.request(name);
      const kept: Write = ['HSET', key, 'digest', digest, 'reply', reply];
      await writeIf([], [kept, ['PEXPIRE', key, forMs]], { isFreeing: true });
    },
    drop: async (name) => {
      const key = keys.request(name);
      await writeIf([['', 'HGET', key, 'reply']], [['UNLINK', key]], { isFreeing: true });
    },
  };
}
