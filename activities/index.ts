import type {
  AnswerActivities,
  CallActivityRef,
  ChildActivities,
  RunActivities,
  StepRef,
} from '../protocol/activities.js';
import { NO_METER } from '../protocol/run-meter.js';
import { createAnswerActivities } from './answers.js';
import { startNextAfterEnds } from '../stores/record/start-next.js';
import { meterChanges } from '../stores/record/meter-changes.js';
import { foldAfterChanges } from '../stores/record/fold-after-changes.js';
import { relayAfterActs } from '../stores/record/relay-after-acts.js';
import { asActivity } from './as-activity.js';
import type { ActivityDeps } from './deps.js';
import { createLeg, toLegProgress } from './leg/run-leg.js';
import { createModelStep } from './model/model-step.js';
import { createRunEnd } from './run-end.js';
import { createSettleChild } from './settle-child.js';
import { createToolCall } from './tool-call.js';

export type { ActivityDeps, ActivityLogger } from './deps.js';

/**
 * The activities of the agent run, over the given stores and agents.
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
  options: ActivityDeps,
): RunActivities & ChildActivities & AnswerActivities {
  // Each activity that ends a run begins the next one.
  const { meter = NO_METER } = options;
  const folding = foldAfterChanges(meterChanges(options.store, meter), options.logger);
  const store = relayAfterActs(folding, options.logger);
  const deps = { ...options, store: startNextAfterEnds(store, options) };
  const modelStep = createModelStep(deps);
  const toolCall = createToolCall(deps);
  const ends = createRunEnd(deps);
  const { isDraining = () => false } = deps;
  const leg = createLeg({ modelStep, toolCall, endRun: ends.endRun, isDraining });
  return {
    modelStep: asActivity(
      deps,
      ({ step }: StepRef) => ({ step, sequence: 0, failures: 0 }),
      modelStep,
    ),
    leg: asActivity(deps, toLegProgress, leg),
    toolCall: asActivity(
      deps,
      ({ toolCallId }: CallActivityRef) => ({ toolCallId }),
      (ref, attempt) => toolCall(ref, attempt),
    ),
    settleChild: createSettleChild(deps),
    ...ends,
    ...createAnswerActivities(deps),
  };
}
