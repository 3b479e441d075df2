import type {
  AnswerActivities,
  CallActivityRef,
  ChildActivities,
  RunActivities,
  StepRef,
} from '../protocol/temporal.js';
import { asActivity } from './as-activity.js';
import type { ActivityDeps } from './deps.js';
import { createEagerCalls } from './eager-calls.js';
import { toLegProgress } from './leg/run-leg.js';
import { createRunOperations } from './run-operations.js';

export type { ActivityDeps, ActivityLogger } from './deps.js';
export { createToolHost } from './run-agent.js';

/**
 * Creates the activities of agent runs.
 *
 * @example
 * import { AgentRegistry } from 'helix-temporal';
 * import { createActivities, type ActivityDeps } from 'helix-temporal/runtime-temporal';
 *
 * // For a worker without the plugin, which composes the same activities.
 * export const activitiesOf = (deps: Omit<ActivityDeps, 'agents'>) =>
 *   createActivities({ ...deps, agents: new AgentRegistry() });
 */
export function createActivities(
  deps: ActivityDeps,
): RunActivities & ChildActivities & AnswerActivities {
  const { modelStep, leg, toolCall, ...rest } = createRunOperations(deps);
  const eager = createEagerCalls(deps.eagerSlots);
  return {
    modelStep: asActivity(
      deps,
      ({ step }: StepRef) => ({ step, sequence: 0, failures: 0 }),
      async (ref, attempt, progress) => {
        const outcome = await eager.beside(modelStep(ref, attempt, progress));
        const { at } = outcome;
        const spent = 'spent' in outcome ? outcome.spent : undefined;
        const places = eager.offer(outcome);
        return { at, ...(spent && { spent }), ...(places > 0 && { eager: places }) };
      },
    ),
    leg: asActivity(deps, toLegProgress, (...work) => eager.beside(leg(...work))),
    toolCall: asActivity(
      deps,
      ({ toolCallId }: CallActivityRef) => ({ toolCallId }),
      (ref, attempt) =>
        eager.call(ref, attempt, async () => ({ at: (await toolCall(ref, attempt)).at })),
    ),
    ...rest,
  };
}
