import type { OpenedLeases } from '../contract/leases.js';
import { closeClient, connectCommands } from './clients.js';
import { commandsOf } from './commands.js';
import { createKeySpace } from './keys.js';
import { createLeases } from './leases.js';
import { sendOnce } from './send.js';

/**
 * Opens the leases in another thread, over its own connection and without scripts. A renewal that cannot be sent at
 * once fails: sent later, it would extend a lapsed lease.
 */
export function openLeases({ url, prefix }: { url: string; prefix?: string }): OpenedLeases {
  const redis = connectCommands(url, 'refuse');
  redis.connect().catch(() => undefined);
  const keys = createKeySpace(prefix);
  return {
    leases: createLeases({ redis: commandsOf(redis, sendOnce), keys, now: Date.now }),
    close: () => {
      closeClient(redis);
    },
  };
}
