import { afterAll, beforeAll, describe } from '@jest/globals';
import { startCluster, type RedisCluster } from '../../support/redis-cluster.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { reservationCases } from './reservation-cases.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster.close();
});

describe('reservations on Redis', () => {
  reservationCases(sharedRedisUrl);
});

describe('reservations on a cluster', () => {
  reservationCases(() => cluster.url);
});
