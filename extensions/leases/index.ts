import type { Extension } from '../../extension.js';
import { createLease, type BegunLease, type LeaseOptions } from './lease-worker.js';

export { beginLease } from './lease-worker.js';
export type { BegunLease, LeaseOptions } from './lease-worker.js';

/**
 * Lets other workers take over what a worker held within two seconds of the death of its process; without it
 * Temporal notices by heartbeats, in about five.
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
 * @param options or a lease that has begun already
 */
export function leases(options: LeaseOptions | BegunLease = {}): Extension {
  return {
    name: 'leases',
    liveness: (deps) => ('judge' in options ? options : createLease({ ...options, ...deps })),
  };
}
