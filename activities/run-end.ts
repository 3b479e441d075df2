import type { RunActivities } from '../protocol/activities.js';
import type { ActivityDeps } from './deps.js';

/** Bookkeeping that no model step or tool carries out along the way. */
export function createRunEnd({
  store,
  agents,
}: ActivityDeps): Pick<RunActivities, 'endRun' | 'stopRun'> {
  return {
    endRun: async ({ sessionId, runId, agent, step, status, error, known }) => {
      // What the last step's calls changed counts as well.
      if (agents.get(agent, { sessionId, runId })?.stateSchema !== undefined) {
        await store.promoteSettled(sessionId);
      }
      const result = await store.end({
        sessionId,
        runId,
        agentType: agent,
        step,
        status,
        ...(error !== undefined && { error }),
        floor: known,
        now: Date.now(),
      });
      return result.kind === 'ended' ? result.status : 'superseded';
    },
    stopRun: async ({ sessionId, runId, stop }) => {
      await store.stop(sessionId, { ...stop, runId });
    },
  };
}
