import { storeConformance } from '../../../store/conformance/index.js';
import { createRedisStores, type RedisStores } from '../../../store/redis/index.js';
import { startOneNodeCluster } from '../../support/redis-cluster.js';
import type { RedisProcess } from '../../support/redis-process.js';
import { createRedisUser } from '../../support/redis-user.js';
import { newNonce } from '../../support/session-driver.js';
import { answers } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

/** Unique to this test file, which therefore has indexes over all sessions of its own. */
const prefix = `t${newNonce()}`;

// This single node owns every slot of a cluster. It refuses requests and script accesses whose keys
// are in different slots.
let node: RedisProcess;
/** Address of the node for a user with only the documented rights. */
let url: string;
beforeAll(async () => {
  node = await startOneNodeCluster();
  ({ url } = await node.ask((redis) => createRedisUser(redis, prefix)));
});
afterAll(async () => {
  await Promise.all(connected.map((stores) => stores.close()));
  await node.close();
});

const connected: RedisStores[] = [];
const unused: RedisStores[] = [];

/** Opens stores with the connections of an earlier case, if no other case uses them. */
async function open() {
  const stores = unused.pop() ?? (await connect());
  const close = (): Promise<void> => {
    unused.push(stores);
    return Promise.resolve();
  };
  return { ...stores, close };
}

async function connect(): Promise<RedisStores> {
  const stores = createRedisStores({ url, whenAway: 'wait', prefix });
  connected.push(stores);
  await until('Redis answers', () => answers(stores));
  return stores;
}

storeConformance({ open, describe, it, shared: true });
