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
 * Creates pseudonyms of people, each with its own key: a reader of the trail cannot identify people by trying names,
 * and without the key nobody can. The name of a person who acted on other people's data is also sealed, out of reach of
 * any erasure.
 */
export function createPeople({ redis, keys, now }: Pick<RedisContext, 'redis' | 'keys' | 'now'>) {
  const keyOf = (tenant: string, person: string): Promise<string | null> =>
    redis.hget(keys.audit(tenant).people, person);

  async function makeKey(tenant: string, person: string): Promise<string> {
    const key = randomBytes(KEY_BYTES).toString('base64url');
    // If two processes make a key, the first counts.
    const isMade = (await redis.hsetnx(keys.audit(tenant).people, person, key)) === 1;
    return isMade ? key : ((await keyOf(tenant, person)) ?? key);
  }

  async function read(key: string, pseudonyms: readonly string[]): Promise<Map<string, string>> {
    const wanted = [...new Set(pseudonyms)];
    if (wanted.length === 0) return new Map();
    const names = await redis.hmget(key, ...wanted);
    return new Map(
      wanted.flatMap((pseudonym, at) => {
        const name = names[at];
        return name == null ? [] : [[pseudonym, name] as const];
      }),
    );
  }

  async function find(tenant: string, person: string | undefined): Promise<string | undefined> {
    if (person === undefined) return undefined;
    const key = await keyOf(tenant, person);
    return key === null ? undefined : toPseudonym(key, person);
  }

  async function readAsked(tenant: string): Promise<[string, DualRequest][]> {
    const stored = await redis.hgetall(keys.audit(tenant).asked);
    return Object.entries(stored).map(([field, until]) => {
      const request = parseStored(field, 'request of an operator') as DualRequest;
      return [field, { ...request, until: Number(until) }];
    });
  }

  async function drop(tenant: string, isOver: (request: DualRequest) => boolean) {
    for (const [field, request] of await readAsked(tenant)) {
      if (isOver(request)) await redis.hdel(keys.audit(tenant).asked, field);
    }
  }

  return {
    /**
     * Returns a person's pseudonym, and makes the key if there is none; undefined without a person.
     *
     * @param isOnOthers the person acts on other people's data
     */
    pseudonymOf: async (
      tenant: string,
      person: string | undefined,
      isOnOthers: boolean,
    ): Promise<string | undefined> => {
      if (person === undefined || person === '') return undefined;
      const { names, acted, sealed } = keys.audit(tenant);
      for (;;) {
        const key = (await keyOf(tenant, person)) ?? (await makeKey(tenant, person));
        const pseudonym = toPseudonym(key, person);
        await redis.hset(names, pseudonym, person);
        if (isOnOthers) {
          // The time is written first, so that no trim in between drops the name.
          await redis.zadd(acted, now(), pseudonym);
          await redis.hset(sealed, pseudonym, person);
        }
        if ((await keyOf(tenant, person)) === key) return pseudonym;
        // The person was forgotten meanwhile, so the name would stay without its key.
        await redis.hdel(names, pseudonym);
      }
    },
    find,
    namesOf: (tenant: string, pseudonyms: readonly string[]) =>
      read(keys.audit(tenant).names, pseudonyms),
    sealedOf: (tenant: string, pseudonyms: readonly string[]) =>
      read(keys.audit(tenant).sealed, pseudonyms),
    hasActedOnOthers: async (tenant: string, person: string): Promise<boolean> => {
      const pseudonym = await find(tenant, person);
      if (pseudonym === undefined) return false;
      return (await redis.zscore(keys.audit(tenant).acted, pseudonym)) !== null;
    },
    ask: async (
      tenant: string,
      { action, subject, by, personId }: Omit<DualRequest, 'until'>,
    ): Promise<void> => {
      const key = keys.audit(tenant).asked;
      await drop(tenant, ({ until }) => until <= now());
      const field = JSON.stringify({ action, subject, by, personId });
      await redis.hsetnx(key, field, String(now() + ASKED_MS));
      await redis.pexpire(key, ASKED_MS);
    },
    asked: async (tenant: string): Promise<DualRequest[]> => {
      const requests = await readAsked(tenant);
      return requests.flatMap(([, request]) => (request.until > now() ? [request] : []));
    },
    forget: async (tenant: string, person: string): Promise<boolean> => {
      await drop(tenant, ({ action, subject, by }) =>
        action === 'forget' ? [subject, by].includes(person) : by === person,
      );
      const key = await keyOf(tenant, person);
      if (key === null) return false;
      const { people, names } = keys.audit(tenant);
      const pseudonym = toPseudonym(key, person);
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
