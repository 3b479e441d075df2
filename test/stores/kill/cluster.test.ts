import { afterAll, beforeAll, describe } from '@jest/globals';
import { startCluster, type RedisCluster } from '../../support/redis-cluster.js';
import { killCases } from './kill-cases.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.close();
});

describe('real processes on a cluster', () => {
  killCases(() => cluster.url);
});
