import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { At, RunInput, RunSummary } from '../protocol/run.js';
import { SEALED_FAILURE } from '../protocol/temporal.js';
import { beginningOf, createLoop, isForLeg, type Host, type Loop } from '../run/loop.js';
import { runTool, retryWhileLost } from './attempts.js';
import { listenToOperators } from './operators.js';
import { asAtWork, createOperatorsView } from './operators-view.js';
import { bookkeeping, legs, model } from './proxies.js';
import { runRef, type RunExtension, type Run } from './run.js';
import { runSubAgent, notifyParent, wakeChildren } from './sub-agent.js';

/**
 * Carries out one run of an agent: model steps and their tool calls, until the run ends. Redis holds
 * the record; a new execution of the same run continues from it.
 *
 * @param extensions each creates the work of one extension during the run
 * @returns how the run ended; a failed run fails the workflow with the run's error code as type
 */
export async function executeRun(
  input: RunInput,
  extensions: readonly ((input: RunInput) => RunExtension)[],
): Promise<RunSummary> {
  requireIds(input);
  const run = createRun(input, extensions);
  listenToOperators(run);
  // A cancel from outside means stop. Stops go through Redis, so the workflow cancels nothing itself.
  return CancellationScope.nonCancellable(async () => {
    const { next } = await run.loop.run();
    if (next.do !== 'done') throw new Error('the loop of a run ends when that is over');
    await untilHandlersFinished(run);
    await notifyParent(run);
    for (const each of run.extensions) await each.end(next);
    const { status, step: steps, error } = next;
    run.view.ended(status === 'superseded' ? 'interrupted' : status, steps);
    if (status !== 'failed') return { status, steps, trace: input.traceUrl };
    const { message = 'the run failed', code = 'run_failed' } = error ?? {};
    throw input.sealsFailures === true
      ? ApplicationFailure.nonRetryable(SEALED_FAILURE, code, { message })
      : ApplicationFailure.nonRetryable(message, code);
  });
}

/** Refuses an input that was typed by hand, whose activities Temporal would try again without limit. */
function requireIds(input: unknown): void {
  const { sessionId, runId, agent } = (input ?? {}) as Partial<RunInput>;
  if ([sessionId, runId, agent].every((id) => typeof id === 'string')) return;
  const text = 'The input names no run. Send the conversation a message, which starts one.';
  throw ApplicationFailure.nonRetryable(text, 'validation_error');
}

function createRun(
  input: RunInput,
  extensions: readonly ((input: RunInput) => RunExtension)[],
): Run {
  const run: Omit<Run, 'loop'> & { loop?: Loop } = {
    input,
    view: createOperatorsView(input),
    extensions: extensions.map((each) => each(input)),
    recording: 0,
    looks: 0,
    reportsEnd: input.from?.reportsEnd === true,
    traceparent: input.traceparent,
  };
  run.loop = createLoop(hostOf(run as Run), input, beginningOf(input, Date.now()));
  return run as Run;
}

/** Hosts the run's loop in Temporal's sandbox. */
function hostOf(run: Run): Host {
  const { input, view, extensions } = run;
  const { turn, maxSteps, hasOutput, parent } = input;
  let eagerly = new Set<string>();
  return {
    now: Date.now,
    until: (holds, ms) =>
      ms === undefined
        ? condition(holds).then(() => true)
        : condition(holds, ms, { summary: `deadline of step ${String(view.state().step)}` }),
    between: (at) =>
      workflowInfo().continueAsNewSuggested || mayMove(at)
        ? continueAsNew(run, at)
        : Promise.resolve(),
    show: (shown) => {
      view.show(shown);
      for (const each of extensions) each.show(shown);
    },
    over: (children) => void wakeChildren(run, children),
    ...(input.activities === 'leg' && {
      leg: (at) => (isForLeg(at.next) && at.next.do !== 'end' ? () => leg(at) : undefined),
    }),
    model: async ({ step, mustFinish }) => {
      const reply = await retryWhileLost(input, (options, lease) =>
        model.modelStep.executeWithOptions({ summary: `step ${String(step)}`, ...options }, [
          {
            ...runRef(run),
            turn,
            step,
            maxSteps,
            known: run.loop.known().sequence,
            forceFinish: mustFinish,
            ...(parent !== undefined && { parent, depth: parent.depth }),
            ...lease,
          },
        ]),
      );
      view.spent(reply.spent);
      eagerly = new Set(eagerOf(reply.at, reply.eager));
      return reply.at;
    },
    call: async (call, step) => {
      const { toolCallId, toolName } = call;
      const ref = { ...runRef(run), step, toolCallId, toolName };
      return (await runTool(input, ref, call, eagerly.delete(toolCallId))).at;
    },
    child: (call, step) => runSubAgent(run, step, call),
    end: async ({ step }) => {
      const { sequence: known } = run.loop.known();
      const ref = { ...runRef(run), step, status: 'completed', known } as const;
      return (await bookkeeping.endRun.executeWithOptions({ summary: ref.status }, [ref])).at;
    },
    look: async () => {
      const ref = { ...runRef(run), known: run.loop.known() };
      const summary = `look at step ${String(view.state().step)}`;
      return (await bookkeeping.look.executeWithOptions({ summary }, [ref])).at;
    },
  };

  async function leg(at: At): Promise<At> {
    const { sequence } = run.loop.known();
    const summary = `from step ${String(at.next.step)}`;
    const ref = { ...runRef(run), turn, maxSteps, hasOutput, parent, at: { ...at, sequence } };
    const outcome = await retryWhileLost(input, (options, lease) =>
      legs.leg.executeWithOptions({ summary, ...options }, [{ ...ref, ...lease }]),
    );
    view.spent(outcome.spent);
    view.steps(outcome.steps);
    return outcome.at;
  }
}

/**
 * Picks the calls that may start eagerly: as many as the worker that committed the step had free slots.
 * Calls that need an approval are among them, since an approved one usually finds a free slot as well.
 */
function eagerOf({ next }: At, places = 0): string[] {
  if (next.do !== 'open') return [];
  const { machine = [], people = [], calls = [] } = next;
  const isOwn = (id: string): boolean =>
    calls.some(
      ({ toolCallId, kind, activity }) =>
        toolCallId === id && kind !== 'client' && activity === undefined,
    );
  return [...machine, ...people].filter(isOwn).slice(0, places);
}

/** Waits until operators' requests are finished, stops are recorded and sub-agents woken; then the execution may end. */
const untilHandlersFinished = (run: Run): Promise<void> =>
  condition(() => run.recording === 0 && allHandlersFinished());

/** Returns true if the run waits and another build is current. Its own workers may be gone before people answer. */
const mayMove = ({ next }: At): boolean =>
  next.do === 'open' && workflowInfo().targetWorkerDeploymentVersionChanged;

/** Continues as a new execution, which starts by reading the record. The loop calls it while no work is in progress. */
async function continueAsNew(run: Run, at: At): Promise<void> {
  const { next } = at;
  await untilHandlersFinished(run);
  const { typedSearchAttributes: labels } = workflowInfo();
  const { version, sequence: known } = run.loop.known();
  const { spent } = run.view.state();
  const step = next.do === 'model' ? next.step - 1 : next.step;
  await makeContinueAsNewFunc<(input: RunInput) => Promise<RunSummary>>({
    typedSearchAttributes: step > 0 && run.input.searchAttributes ? asAtWork(labels) : labels,
    ...(mayMove(at) && { initialVersioningBehavior: 'AUTO_UPGRADE' as const }),
  })({
    ...run.input,
    traceparent: run.traceparent,
    from: { step, known, version, ...(spent && { spent }), reportsEnd: run.reportsEnd },
  });
}
