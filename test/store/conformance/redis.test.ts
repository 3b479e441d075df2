import { storeConformance } from '../../../store/conformance/index.js';
import { startOneNodeCluster } from '../../support/redis-cluster.js';
import type { RedisProcess } from '../../support/redis-process.js';
import { openAsUser } from '../../support/store-under-test.js';

// One node that owns every slot of a cluster: it refuses each request, and each access of a script,
// whose keys lie in two slots.
let node: RedisProcess;
beforeAll(async () => {
  node = await startOneNodeCluster();
});
afterAll(() => node.close());

// As a user of Redis with no more rights than the documents list.
storeConformance({ open: () => openAsUser(node), describe, it, shared: true });
