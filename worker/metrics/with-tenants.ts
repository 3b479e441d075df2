import { createOwnerLookup } from '../../activities/run-agent.js';
import type { RunMeter } from '../../protocol/run-meter.js';
import type { Sessions } from '../../stores/contract/sessions.js';

/**
 * Adds the tenant to what models used. It is looked up beside the run, which waits for no count; where it
 * cannot be read, it counts as none.
 *
 * @param sessions undefined counts without tenants
 */
export function withTenants(
  sessions: Pick<Sessions, 'read'> | undefined,
  meter: RunMeter,
): RunMeter {
  if (sessions === undefined) return meter;
  const findOwner = createOwnerLookup(sessions);
  return (event) => {
    if (event.kind !== 'tokens_used') {
      meter(event);
      return;
    }
    void findOwner(event.run)
      .then(
        (owner) => owner?.tenant,
        () => undefined,
      )
      .then((tenant = '') => {
        meter({ ...event, tenant });
      });
  };
}
