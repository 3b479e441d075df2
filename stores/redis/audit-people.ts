import { createHmac, randomBytes } from 'node:crypto';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

/**
 * Pseudonyms of people, each made with a key of its own: a reader of the trail cannot find out by
 * trying names who is meant, and without the key no one can.
 */
export interface People {
  /** Makes the key if the person has none; undefined without a person. */
  pseudonymOf: (tenant: string, person: string | undefined) => Promise<string | undefined>;
  /** The pseudonym of a person that has one. */
  find: (tenant: string, person: string) => Promise<string | undefined>;
  /** Names of pseudonyms whose keys exist. */
  namesOf: (tenant: string, pseudonyms: readonly string[]) => Promise<Map<string, string>>;
  forget: (tenant: string, person: string) => Promise<boolean>;
}

const KEY_BYTES = 32;
const PSEUDONYM_CHARS = 22;

export function createPeople({ redis, keys }: Pick<RedisContext, 'redis' | 'keys'>): People {
  const keyOf = (tenant: string, person: string): Promise<string | null> =>
    callRedis(redis.hget(keys.audit(tenant).people, person));

  async function makeKey(tenant: string, person: string): Promise<string> {
    const key = randomBytes(KEY_BYTES).toString('base64url');
    // Of two processes that make one, the first counts.
    const isMade = (await callRedis(redis.hsetnx(keys.audit(tenant).people, person, key))) === 1;
    return isMade ? key : ((await keyOf(tenant, person)) ?? key);
  }

  return {
    pseudonymOf: async (tenant, person) => {
      if (person === undefined || person === '') return undefined;
      const { names } = keys.audit(tenant);
      for (;;) {
        const key = (await keyOf(tenant, person)) ?? (await makeKey(tenant, person));
        const pseudonym = toPseudonym(key, person);
        await callRedis(redis.hset(names, pseudonym, person));
        if ((await keyOf(tenant, person)) === key) return pseudonym;
        // The person was forgotten meanwhile: the name would stay without its key.
        await callRedis(redis.hdel(names, pseudonym));
      }
    },
    find: async (tenant, person) => {
      const key = await keyOf(tenant, person);
      return key === null ? undefined : toPseudonym(key, person);
    },
    namesOf: async (tenant, pseudonyms) => {
      const asked = [...new Set(pseudonyms)];
      if (asked.length === 0) return new Map();
      const names = await callRedis(redis.hmget(keys.audit(tenant).names, ...asked));
      return new Map(
        asked.flatMap((pseudonym, at) => {
          const name = names[at];
          return name == null ? [] : [[pseudonym, name] as const];
        }),
      );
    },
    forget: async (tenant, person) => {
      const key = await keyOf(tenant, person);
      if (key === null) return false;
      const { people, names } = keys.audit(tenant);
      const pseudonym = toPseudonym(key, person);
      // The name first: with the key it can be found again if this is interrupted.
      await callRedis(redis.hdel(names, pseudonym));
      await callRedis(redis.hdel(people, person));
      // An act that came between has written it again.
      await callRedis(redis.hdel(names, pseudonym));
      return true;
    },
  };
}

function toPseudonym(key: string, person: string): string {
  const hash = createHmac('sha256', key).update(person.toWellFormed()).digest('base64url');
  return `p-${hash.slice(0, PSEUDONYM_CHARS)}`;
}
