import { toReason } from '../../protocol/to-reason.js';
import { inspectRedis } from './inspect-redis.js';
import { RIGHTS_FIX, toRedisFault } from './redis-faults.js';

/**
 * Why a process cannot use the Redis that its settings name, and what to do; undefined if it can. It
 * throws nothing.
 *
 * @param address as it is shown, without secrets
 */
export async function explainRedis(url: string, address: string): Promise<string | undefined> {
  try {
    const { refusal } = await inspectRedis(url);
    return refusal === undefined ? undefined : `${refusal} ${RIGHTS_FIX}`;
  } catch (error) {
    const { finding, fix } = toRedisFault(address, toReason(error));
    return `${finding} ${fix}`;
  }
}
