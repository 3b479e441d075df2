import type { StoresUnderTest } from '../../stores/conformance/index.js';
import { createRedisStores } from '../../stores/redis/index.js';
import { newNonce } from './session-driver.js';
import { sharedRedisUrl } from './test-stores.js';
import { until } from './until.js';

/** Of this test file, so that what is indexed over all sessions is its own. */
const prefix = `t${newNonce()}`;

/** Both stores on the Redis that all test files share. */
export async function openOnRedis(): Promise<StoresUnderTest> {
  const stores = createRedisStores({ url: sharedRedisUrl(), role: 'worker', prefix });
  await until('Redis answers', () =>
    stores.ping().then(
      () => true,
      () => false,
    ),
  );
  return stores;
}
