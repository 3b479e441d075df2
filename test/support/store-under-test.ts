import type { StoresUnderTest } from '../../store/conformance/index.js';
import { createRedisStores } from '../../store/redis/index.js';
import { answers } from './open-stores.js';
import type { RedisProcess } from './redis-process.js';
import { createRedisUser } from './redis-user.js';
import { newNonce } from './session-driver.js';
import { until } from './until.js';

/** Unique to this test file, which therefore has indexes over all sessions of its own. */
const prefix = `t${newNonce()}`;

let user: Promise<string> | undefined;

/** Opens both stores as one user with only the documented rights. The caller closes them. */
export async function openAsUser({ ask }: RedisProcess): Promise<StoresUnderTest> {
  user ??= ask(async (redis) => (await createRedisUser(redis, prefix)).url);
  const stores = createRedisStores({ url: await user, whenAway: 'wait', prefix });
  await until('Redis answers', () => answers(stores));
  return stores;
}
