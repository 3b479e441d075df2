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
import { createLegTraces, type LegTraces, type RunOfWork } from '../stores/record/leg-traces.js';
import { meterChanges } from '../stores/record/meter-changes.js';
import { traceChanges } from '../stores/record/trace-changes.js';
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
  const { tracer } = options;
  const traces = tracer && createLegTraces(options.store, tracer);
  const traced = traceChanges(options.store, traces);
  const folding = foldAfterChanges(meterChanges(traced, meter), options.logger);
  const store = relayAfterActs(folding, options.logger);
  const deps = { ...options, store: startNextAfterEnds(store, options), traces };
  const modelStep = createModelStep(deps);
  const toolCall = createToolCall(deps);
  const ends = createRunEnd(deps);
  const { isDraining = () => false } = deps;
  const leg = createLeg({ modelStep, toolCall, endRun: ends.endRun, isDraining });
  return {
    modelStep: asActivity(
      deps,
      ({ step }: StepRef) => ({ step, sequence: 0, failures: 0 }),
      inLeg(traces, modelStep),
    ),
    leg: asActivity(deps, toLegProgress, inLeg(traces, leg)),
    toolCall: asActivity(
      deps,
      ({ toolCallId }: CallActivityRef) => ({ toolCallId }),
      inLeg(traces, (ref, attempt) => toolCall(ref, attempt)),
    ),
    settleChild: inLeg(traces, createSettleChild(deps)),
    endRun: inLeg(traces, ends.endRun),
    stopRun: ends.stopRun,
    ...createAnswerActivities(deps),
  };
}

/** Work on a run within the trace of its leg. */
function inLeg<Ref extends RunOfWork, Rest extends unknown[], Result>(
  traces: LegTraces | undefined,
  work: (ref: Ref, ...rest: Rest) => Promise<Result>,
): (ref: Ref, ...rest: Rest) => Promise<Result> {
  if (traces === undefined) return work;
  return (ref, ...rest) => traces.within(ref, () => work(ref, ...rest));
}
