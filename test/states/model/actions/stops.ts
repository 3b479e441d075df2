import { addActor, spend, type Environment } from '../environment.js';
import { nameOfRun } from '../plan.js';
import type { Facts } from '../record/facts.js';
import { stop } from '../requests/people.js';
import { signalLook } from '../workflows.js';
import { withLoss, type Action } from './action.js';

/** Returns a person's stops of the run: resumable, or for good. */
export function stopActions(env: Environment, { record }: Facts): Action[] {
  if (env.left.stops === 0 || record === undefined) return [];
  const paid = spend(env, 'stops');
  return (['interrupt', 'abort'] as const).flatMap((mode) => {
    const sent = { name: mode, request: stop(mode, env.clock), isFair: false };
    return withLoss(env, sent, 'signal', (isDelivered) => (reply) => {
      if (reply.kind === 'nothing') return env;
      const runId = String(reply['runId']);
      if (reply.kind === 'stopping') return confirmStop(paid, runId, isDelivered);
      if (!isDelivered) return spend(paid, 'faults');
      const run = nameOfRun(runId);
      return run === undefined ? paid : signalLook(paid, run);
    });
  });
}

/** Expects the model to confirm the stop; if none does, the API ends the run. */
export function confirmStop(env: Environment, runId: string, isDelivered: boolean): Environment {
  const run = nameOfRun(runId);
  if (run === undefined) return env;
  if (!isDelivered) return spend(env, 'faults');
  const at = { step: 0, n: 1, at: 'take over', isZombie: false } as const;
  return addActor(env, { run, what: 'api', ...at });
}
