import { storeConformance } from '../../../store/conformance/index.js';
import { startOneNodeCluster } from '../../support/redis-cluster.js';
import type { RedisProcess } from '../../support/redis-process.js';
import { openAsUser } from '../../support/store-under-test.js';

// This single node owns every slot of a cluster. It refuses requests and script accesses whose keys
// are in different slots.
let node: RedisProcess;
beforeAll(async () => {
  node = await startOneNodeCluster();
});
afterAll(() => node.close());

// The suite runs as a Redis user with only the documented rights.
storeConformance({ open: () => openAsUser(node), describe, it, shared: true });
