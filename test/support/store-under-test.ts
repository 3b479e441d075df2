import type { StoresUnderTest } from '../../stores/conformance/index.js';
import { createRedisStores } from '../../stores/redis/index.js';
import { answers } from './open-stores.js';
import { newNonce } from './session-driver.js';
import { until } from './until.js';

/** Of this test file, so that what is indexed over all sessions is its own. */
const prefix = `t${newNonce()}`;

/** Both stores on a Redis or a cluster, answering; the caller closes them. */
export async function openUnderTest(url: string): Promise<StoresUnderTest> {
  const stores = createRedisStores({ url, role: 'worker', prefix });
  await until('Redis answers', () => answers(stores));
  return stores;
}
