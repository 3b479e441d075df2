import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { openRedisStores, type RedisStores } from '../../../../stores/redis/open-stores.js';
import { answers } from '../../../support/open-stores.js';
import { drive, newNonce, type SessionDriver } from '../../../support/session-driver.js';
import { sharedRedisUrl } from '../../../support/test-stores.js';
import { until } from '../../../support/until.js';
import { fromFile, readSession, restoreAs, type SessionReading } from './recorded.js';

const url = sharedRedisUrl();

/** A session that release 0.2.0 has left in Redis, in the hands of this release. */
export interface Upgraded extends RedisStores {
  redis: Redis;
  session: SessionDriver;
  /** Id of its newest run. */
  runId: string;
  /** As release 0.2.0 read it. */
  before: SessionReading;
  /** Its deployment's. */
  prefix: string;
  /** A field of its record. */
  field: (name: string) => Promise<string | null>;
  /** As it is read now, in the shape of `before`. */
  read: () => Promise<SessionReading>;
}

/** Brings a recorded session back to life, under keys that no other test uses. */
export async function openRecorded(name: string, recordLayout = 1): Promise<Upgraded> {
  const file = fileURLToPath(new URL(`./${name}.json`, import.meta.url));
  const { keys, read: before } = fromFile(readFileSync(file, 'utf8'));
  const prefix = `t${newNonce()}`;
  const redis = new Redis(url);
  atEndOfFile(() => {
    redis.disconnect();
  });
  await restoreAs(redis, prefix, keys);
  const stores = openRedisStores({ url, whenAway: 'wait', prefix, recordLayout });
  atEndOfFile(() => stores.close());
  await until('Redis answers', () => answers(stores));
  const session = drive(stores, `upgraded-${name}`);
  return {
    ...stores,
    redis,
    session,
    runId: before.view?.record.runId ?? '',
    before,
    prefix,
    field: (field) => redis.hget(`${prefix}:{${session.id}}:root`, field),
    read: async () =>
      JSON.parse(JSON.stringify(await readSession(stores, session.id))) as SessionReading,
  };
}
