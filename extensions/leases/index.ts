import type { Extension } from '../../extension.js';
import { createLease, type BegunLease, type LeaseOptions } from './lease-worker.js';

export { beginLease, type BegunLease, type LeaseOptions } from './lease-worker.js';

/**
 * Lets other workers take over a dead worker's attempts within two seconds. Without leases Temporal notices
 * the death by heartbeats, after about five.
 *
 * @example
 * import { NativeConnection } from '@temporalio/worker';
 * import { AgentRegistry } from 'helix-temporal';
 * import { leases } from 'helix-temporal/leases';
 * import { createAgentWorker } from 'helix-temporal/runtime-temporal';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const worker = await createAgentWorker({
 *   connection: await NativeConnection.connect(),
 *   taskQueue: 'agent-runs',
 *   agents: new AgentRegistry(),
 *   stores: createRedisStores({ url: 'redis://localhost:6379', whenAway: 'wait' }),
 *   extensions: [leases()],
 * });
 *
 * @param options options of a new lease, or a lease that has begun already
 */
export function leases(options: LeaseOptions | BegunLease = {}): Extension {
  return {
    name: 'leases',
    liveness: (deps) => ('judge' in options ? options : createLease({ ...options, ...deps })),
  };
}
