import { randomUUID } from 'node:crypto';

/**
 * Names the lease of each worker process that is started, and that of the process that it follows,
 * which has ended: the successor takes over at once what that one was doing.
 */
export function createLeaseNames(newName = randomUUID) {
  let former;
  return () => {
    const env = { LEASE_ID: newName(), ...(former && { ENDED_LEASE_ID: former }) };
    former = env.LEASE_ID;
    return env;
  };
}
