import type {
  AnswerActivities,
  ChildActivities,
  EndRef,
  RunActivities,
} from '../protocol/temporal.js';
import { rootOf } from '../protocol/ids.js';
import type { At, StepOutcome } from '../protocol/run.js';
import { NO_METER } from '../protocol/telemetry.js';
import { toAct } from '../runs/record/acts.js';
import { STATE_LOST } from '../runs/record/force-end.js';
import { listenToChanges } from '../runs/record/listeners.js';
import { createAnswerActivities } from './answers.js';
import type { ActivityDeps } from './deps.js';
import { afterWork, type WithRunState } from './after-work.js';
import type { RunOfWork } from './extension.js';
import { createLeg, type Leg } from './leg/run-leg.js';
import { createFinishHooks, unlessErased } from './model/finish-hooks.js';
import { createModelStep, type ModelStep } from './model/model-step.js';
import { createRunAgents, type RunAgents } from './run-agent.js';
import { createSettleChild } from './settle-child.js';
import { createToolCall, type ToolCall } from './tool-call.js';

/** Operations of a run. The first three receive their attempt; the others are short. */
export interface RunOperations
  extends Pick<RunActivities, 'endRun' | 'stopRun'>, ChildActivities, AnswerActivities {
  modelStep: WithRunState<ModelStep>;
  leg: Leg;
  toolCall: WithRunState<ToolCall>;
}

/** Creates the operations of a run. This module does not depend on Temporal. */
export function createRunOperations(options: ActivityDeps): RunOperations {
  const { meter = NO_METER, extensions = [] } = options;
  const store = listenToChanges(options.store, { ...options, meter });
  const middleware = extensions.flatMap(({ work }) => work?.(store) ?? []);
  const deps = { ...options, store, middleware };
  // Steps and calls of a run share one definition, and so its connections.
  const runAgents = createRunAgents(deps);
  const { next } = deps.store.runs;
  const step = createModelStep(deps, runAgents);
  const modelStep: RunOperations['modelStep'] = async (...work) => {
    const outcome = await step(...work);
    const read = (): Promise<At> => next(work[0], { lists: true, calls: true });
    return { ...outcome, at: await afterWork(outcome, read) };
  };
  const call = createToolCall(deps, runAgents);
  const toolCall: RunOperations['toolCall'] = async (...work) => {
    const outcome = await call(...work);
    // The run needs the deadline of a call that waits, even while other calls are in progress.
    const wants = { lists: outcome.kind === 'suspended' };
    return { ...outcome, at: await afterWork(outcome, () => next(work[0], wants)) };
  };
  const ends = createRunEnd(deps, runAgents);
  const answers = createAnswerActivities(deps);
  const { isDraining = () => false } = deps;
  const { endRun } = ends;
  const leg = createLeg({ modelStep, toolCall, next, look: answers.look, endRun, isDraining });

  /** Wraps work in the middleware of extensions. */
  function wrapped<Ref extends RunOfWork, Rest extends unknown[], Result>(
    work: (ref: Ref, ...rest: Rest) => Promise<Result>,
  ): typeof work {
    return (ref, ...rest) =>
      middleware.reduceRight<() => Promise<Result>>(
        (next, { run }) =>
          () =>
            run(ref, next),
        () => work(ref, ...rest),
      )();
  }

  return {
    modelStep: wrapped(modelStep),
    leg: wrapped(leg),
    toolCall: wrapped(toolCall),
    settleChild: wrapped(createSettleChild(deps)),
    endRun: wrapped(endRun),
    stopRun: ends.stopRun,
    ...answers,
  };
}

const LOST = { status: 'failed', error: STATE_LOST } as const;

/** The sweeper checks a session this long after an act, in case this process dies. */
const CHECK_MS = 3_000;

/** Creates the run's end and stop, which no model step or tool covers. */
function createRunEnd(
  deps: ActivityDeps,
  runAgents: RunAgents,
): Pick<RunActivities, 'endRun' | 'stopRun'> {
  const { store } = deps;
  const callFinishHooks = createFinishHooks(deps);
  const { next } = store.runs;

  async function endRun(ref: EndRef): Promise<StepOutcome> {
    const { sessionId, runId, agent, step, status, error, known } = ref;
    // The last step's calls may have changed the state.
    const definition = await runAgents.find(ref);
    if (definition?.stateSchema !== undefined) {
      await store.staging.promoteSettled(sessionId).catch(unlessErased);
    }
    // A run whose record lost its newest steps has not completed.
    const record = await store.sessions.read(sessionId);
    const isLost = record?.runId === runId && record.sequence < known;
    const ending = isLost && status === 'completed' ? LOST : { status, error };
    const result = await store.runs.end({
      sessionId,
      runId,
      agentType: agent,
      step,
      ...ending,
      floor: known,
      now: Date.now(),
    });
    if (result.kind !== 'ended') return result;
    if (definition !== undefined && result.status === 'completed') {
      const run = { agent: definition, sessionId, runId, step };
      await callFinishHooks({ ...run, isLast: true, isKnown: true });
    }
    const why = result.status === 'failed' && ending.error !== undefined;
    return { kind: 'ended', step, status: result.status, ...(why && { error: ending.error }) };
  }

  return {
    endRun: async (ref) => {
      const outcome = await endRun(ref);
      return { at: await afterWork(outcome, () => next(ref)) };
    },
    stopRun: async ({ sessionId, runId, stop }) => {
      const { by, reason } = stop;
      const act = toAct('stop', { by, via: 'temporal' }, { reason });
      await store.due.note(rootOf(sessionId), CHECK_MS);
      const stopped = await store.runs.stop(sessionId, { ...stop, runId, act });
      const waited = stopped.kind === 'ended' && stopped.waited === true;
      return { at: await next({ sessionId, runId }), ...(waited && { waited }) };
    },
  };
}
