import type { WorkerExtension } from '../../worker/extension.js';
import { createCalledRunActivities } from './activities.js';

/** Serves `runAgent` and `startAgent`, by which workflows of a person's own run agents. */
export function calledRuns(): WorkerExtension & { name: string } {
  return {
    name: 'called-runs',
    worker: (host) => ({ activities: createCalledRunActivities(host) }),
  };
}
