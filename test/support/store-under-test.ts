import type { StoresUnderTest } from '../../stores/conformance/index.js';
import { createRedisStores } from '../../stores/redis/index.js';
import { RECORD_LAYOUT } from '../../stores/transitions/lib/layout.js';
import { Redis } from 'ioredis';
import { answers } from './open-stores.js';
import type { RedisCluster } from './redis-cluster.js';
import { createClusterUser, createRedisUser } from './redis-user.js';
import { newNonce } from './session-driver.js';
import { sharedRedisUrl } from './test-stores.js';
import { until } from './until.js';

/** Of this test file, so that what is indexed over all sessions is its own. */
const prefix = `t${newNonce()}`;

/** Records are written as when no process of release 0.2.0 is left. */
const recordLayout = RECORD_LAYOUT;

/** Both stores on a Redis or a cluster, answering; the caller closes them. */
async function openUnderTest(url: string): Promise<StoresUnderTest> {
  const stores = createRedisStores({ url, whenAway: 'wait', prefix, recordLayout });
  await until('Redis answers', () => answers(stores));
  return stores;
}

let user: Promise<string> | undefined;

/** The same on the Redis of all tests, as a user with the documented rights and these. */
export async function openAsUser(...rules: string[]): Promise<StoresUnderTest> {
  user ??= createUser(rules);
  return openUnderTest(await user);
}

/** The same on a cluster. */
export async function openAsClusterUser(cluster: RedisCluster): Promise<StoresUnderTest> {
  user ??= createClusterUser(cluster, prefix);
  return openUnderTest(await user);
}

async function createUser(rules: string[]): Promise<string> {
  const redis = new Redis(sharedRedisUrl());
  try {
    return (await createRedisUser(redis, prefix, ...rules)).url;
  } finally {
    redis.disconnect();
  }
}
