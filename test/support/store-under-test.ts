import type { StoresUnderTest } from '../../store/conformance/index.js';
import { createRedisStores } from '../../store/redis/index.js';
import { answers } from './open-stores.js';
import type { RedisProcess } from './redis-process.js';
import { createRedisUser } from './redis-user.js';
import { newNonce } from './session-driver.js';
import { until } from './until.js';

/** Of this test file, so that what is indexed over all sessions is its own. */
const prefix = `t${newNonce()}`;

let user: Promise<string> | undefined;

/** Both stores, answering, as one user who has the documented rights only; the caller closes them. */
export async function openAsUser({ ask }: RedisProcess): Promise<StoresUnderTest> {
  user ??= ask(async (redis) => (await createRedisUser(redis, prefix)).url);
  const stores = createRedisStores({ url: await user, whenAway: 'wait', prefix });
  await until('Redis answers', () => answers(stores));
  return stores;
}
