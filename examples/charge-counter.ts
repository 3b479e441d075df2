import { closeClient, connectCommands } from '../store/redis/clients.js';
import { callRedis } from '../store/redis/errors.js';
import type { CountCharge, FindCharge } from './lab/tools.js';

/** Hash in Redis: executions of the lab agent's `charge` by idempotency key. */
const CHARGES = 'lab:charges';

export interface ChargeCounter {
  /** @throws HelixError `unavailable` */
  count: CountCharge;
  /** @throws HelixError `unavailable` */
  find: FindCharge;
  close: () => void;
}

/** Creates a counter with its own connection, opened by the first charge. */
export function createChargeCounter(redisUrl: string): ChargeCounter {
  const redis = connectCommands(redisUrl, 'wait');
  return {
    count: (idempotencyKey) => callRedis(redis.hincrby(CHARGES, idempotencyKey, 1)),
    find: async (idempotencyKey) => (await callRedis(redis.hexists(CHARGES, idempotencyKey))) === 1,
    close: () => closeClient(redis),
  };
}
