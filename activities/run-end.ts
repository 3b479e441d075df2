import type { RunActivities } from '../protocol/activities.js';
import { HelixError } from '../protocol/errors.js';
import { rootOf } from '../protocol/ids.js';
import { toAct } from '../stores/record/acts.js';
import type { ActivityDeps } from './deps.js';
import { createTellAgent } from './model/finish-hooks.js';
import { createAgentLookup, createOwnerLookup } from './run-agent.js';

/** The sweeper looks at a session this long after an act, in case this process dies. */
const CHECK_MS = 3_000;

/** Bookkeeping that no model step or tool carries out along the way. */
export function createRunEnd({
  store,
  agents,
  logger,
}: ActivityDeps): Pick<RunActivities, 'endRun' | 'stopRun'> {
  const tellAgent = createTellAgent({ store, logger });
  const findAgent = createAgentLookup(agents, createOwnerLookup(store.sessions));
  return {
    endRun: async ({ sessionId, runId, agent, step, status, error, known }) => {
      // What the last step's calls changed counts as well.
      const definition = await findAgent({ agent, sessionId, runId });
      if (definition?.stateSchema !== undefined) {
        await store.staging.promoteSettled(sessionId).catch(unlessErased);
      }
      const result = await store.runs.end({
        sessionId,
        runId,
        agentType: agent,
        step,
        status,
        error,
        floor: known,
        now: Date.now(),
      });
      if (result.kind !== 'ended') return 'superseded';
      if (definition !== undefined && result.status === 'completed') {
        const run = { agent: definition, sessionId, runId, step };
        await tellAgent({ ...run, isLast: true, isKnown: true });
      }
      return result.status;
    },
    stopRun: async ({ sessionId, runId, stop }) => {
      const { by, reason } = stop;
      const act = toAct('stop', { by, via: 'temporal' }, { reason });
      await store.due.note(rootOf(sessionId), CHECK_MS);
      const stopped = await store.runs.stop(sessionId, { ...stop, runId, act });
      return stopped.kind === 'ended' && stopped.waited === true;
    },
  };
}

/** Of a session that was erased nothing is left to end, which is what `end` then says. */
function unlessErased(error: unknown): void {
  if (!HelixError.isInstance(error) || error.code !== 'not_found') throw error;
}
