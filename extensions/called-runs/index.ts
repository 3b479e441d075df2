import type { WorkerExtension } from '../../worker/extension.js';

/** Serves `runAgent` and `startAgent`, by which workflows of a person's own run agents. */
export function calledRuns(): WorkerExtension & { name: string } {
  return {
    name: 'called-runs',
    worker: async (host) => {
      // Programs without Temporal list this extension, too.
      const { createCalledRunActivities } = await import('./activities.js');
      return { activities: createCalledRunActivities(host) };
    },
  };
}
