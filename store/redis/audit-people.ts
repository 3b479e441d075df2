import { createHmac, randomBytes } from 'node:crypto';
import type { DualRequest } from '../contract/audit.js';
import type { RedisContext } from './context.js';
import { parseStored } from '../record/stored-json.js';

const KEY_BYTES = 32;
const PSEUDONYM_CHARS = 22;
/** An operator's request waits this long for a second operator. */
const ASKED_MS = 24 * 60 * 60 * 1000;

export type People = ReturnType<typeof createPeople>;

/**
 * Creates pseudonyms of a tenant's people, each with its own key, so that a reader of the trail cannot identify
 * people by trying names. Nobody can once a key is dropped. The name of a person who acted on other people's data is
 * also sealed, where no erasure removes it.
 */
export function createPeople(
  { redis, keys, now }: Pick<RedisContext, 'redis' | 'keys' | 'now'>,
  tenant: string,
) {
  const { people, names, acted, sealed, asked } = keys.audit(tenant);

  async function makeKey(person: string): Promise<string> {
    const key = randomBytes(KEY_BYTES).toString('base64url');
    // If two processes make a key, the first counts.
    const isMade = (await redis.hsetnx(people, person, key)) === 1;
    return isMade ? key : ((await redis.hget(people, person)) ?? key);
  }

  async function read(key: string, pseudonyms: readonly string[]): Promise<Map<string, string>> {
    const wanted = [...new Set(pseudonyms)];
    if (wanted.length === 0) return new Map();
    const found = await redis.hmget(key, ...wanted);
    return new Map(wanted.flatMap((pseudonym, at) => (found[at] ? [[pseudonym, found[at]]] : [])));
  }

  async function find(person: string | undefined): Promise<string | undefined> {
    if (person === undefined) return undefined;
    const key = await redis.hget(people, person);
    return key === null ? undefined : toPseudonym(key, person);
  }

  async function readAsked(): Promise<[string, DualRequest][]> {
    return Object.entries(await redis.hgetall(asked)).map(([field, until]) => {
      const request = parseStored(field, 'request of an operator') as DualRequest;
      return [field, { ...request, until: Number(until) }];
    });
  }

  async function dropAsked(isOver: (request: DualRequest) => boolean) {
    for (const [field, request] of await readAsked()) {
      if (isOver(request)) await redis.hdel(asked, field);
    }
  }

  return {
    /**
     * Returns a person's pseudonym, and makes the key if there is none; undefined without a person.
     *
     * @param isOnOthers the person acts on other people's data
     */
    pseudonymOf: async (person: string | undefined, isOnOthers: boolean) => {
      if (person === undefined || person === '') return undefined;
      for (;;) {
        const key = (await redis.hget(people, person)) ?? (await makeKey(person));
        const pseudonym = toPseudonym(key, person);
        await redis.hset(names, pseudonym, person);
        if (isOnOthers) {
          // The time is written first, so that no trim in between drops the name.
          await redis.zadd(acted, now(), pseudonym);
          await redis.hset(sealed, pseudonym, person);
        }
        if ((await redis.hget(people, person)) === key) return pseudonym;
        // The person was forgotten meanwhile, so the name would stay without its key.
        await redis.hdel(names, pseudonym);
      }
    },
    find,
    namesOf: (pseudonyms: readonly string[]) => read(names, pseudonyms),
    sealedOf: (pseudonyms: readonly string[]) => read(sealed, pseudonyms),
    hasActedOnOthers: async (person: string): Promise<boolean> => {
      const pseudonym = await find(person);
      return pseudonym !== undefined && (await redis.zscore(acted, pseudonym)) !== null;
    },
    ask: async ({ action, subject, by, personId }: Omit<DualRequest, 'until'>): Promise<void> => {
      await dropAsked(({ until }) => until <= now());
      const field = JSON.stringify({ action, subject, by, personId });
      await redis.hsetnx(asked, field, String(now() + ASKED_MS));
      await redis.pexpire(asked, ASKED_MS);
    },
    asked: async (): Promise<DualRequest[]> => {
      const requests = await readAsked();
      return requests.flatMap(([, request]) => (request.until > now() ? [request] : []));
    },
    forget: async (person: string): Promise<boolean> => {
      await dropAsked(({ action, subject, by }) =>
        action === 'forget' ? [subject, by].includes(person) : by === person,
      );
      const pseudonym = await find(person);
      if (pseudonym === undefined) return false;
      // The name is deleted first, since the key finds it again if this is interrupted.
      await redis.hdel(names, pseudonym);
      await redis.hdel(people, person);
      // An act in between may have written the name again.
      await redis.hdel(names, pseudonym);
      return true;
    },
  };
}

function toPseudonym(key: string, person: string): string {
  const hash = createHmac('sha256', key).update(person.toWellFormed()).digest('base64url');
  return `p-${hash.slice(0, PSEUDONYM_CHARS)}`;
}
