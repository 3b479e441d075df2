import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { storeConformance } from '../../../stores/conformance/index.js';
import { startCluster, type RedisCluster } from '../../support/redis-cluster.js';
import { openAsClusterUser } from '../../support/store-under-test.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.close();
});

// As a user with no more rights than the documents list.
storeConformance({ open: () => openAsClusterUser(cluster), describe, it, shared: true, runs: 20 });
