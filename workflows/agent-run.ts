import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  RunError,
  RunInput,
  RunSummary,
  StepOutcome,
  TerminalStatus,
} from '../protocol/run.js';
import {
  afterStep,
  firstStep,
  nextStep,
  takeStep,
  toProgress,
  type Next,
} from '../protocol/carry.js';
import { SEALED_FAILURE } from '../protocol/temporal-names.js';
import { carryOn } from './leg.js';
import { listenToOperators } from './operators.js';
import { untilKept } from './lost-attempts.js';
import { noticeEnd } from './notice-starts.js';
import { createOperatorsView } from './operators-view.js';
import { bookkeeping, model } from './proxies.js';
import { createRunState, runRef } from './run-state.js';
import { carryOut } from './step-calls.js';
import { tellParent } from './sub-agent.js';
import { untilStart } from './start-time.js';
import { createWaits, untilAnswered } from './waiting.js';

/**
 * One run of an agent: model steps and the tools they call, until nothing is left to do or a person
 * has to act. Redis is the record of everything; this code only decides what comes next, so a new
 * execution of the same run continues from the record.
 *
 * @returns how the run ended; a failed run fails the workflow with the run's error code as type
 */
export async function agentRun(input: RunInput): Promise<RunSummary> {
  const state = createRunState(input);
  const view = createOperatorsView(input);
  listenToOperators(state, view);
  const isInLegs = input.activities === 'leg';
  // An external cancel means stop, and a stop goes through Redis: nothing is cancelled here.
  return CancellationScope.nonCancellable(run);

  async function run(): Promise<RunSummary> {
    const hasBegun = await untilStart(state, view);
    let next: Next = hasBegun ? firstStep(state.carry, input) : await endedElsewhere();
    let outcome: StepOutcome | undefined;
    for (;;) {
      switch (next.do) {
        case 'model': {
          if (isLong()) await goOnAsNew();
          if (isInLegs) {
            next = await byLeg(next);
            break;
          }
          const spoken = await untilSpoken(next);
          if (spoken === 'stopped') {
            next = await endedElsewhere();
            break;
          }
          outcome = spoken;
          if ('spent' in outcome) view.spent(outcome.spent);
          state.carry = takeStep(state.carry, outcome);
          next = afterStep(state.carry, next.step, outcome, input);
          break;
        }
        case 'calls': {
          if (isInLegs) {
            next = await byLeg(next);
            break;
          }
          const followed: Next | 'stopped' = await carryOut(state, view, next);
          next = followed === 'stopped' ? await endedElsewhere() : followed;
          break;
        }
        case 'wait': {
          view.show('waiting', next.step, []);
          const released = await untilAnswered(state, next.step, createWaits());
          // Where nothing waits any more, the claim of the next step says what follows, too.
          next =
            released === 'stopped'
              ? await endedElsewhere()
              : nextStep(next.step, input, state.carry.mustFinish);
          break;
        }
        case 'end':
          next = { do: 'done', status: await end(next.status) };
          break;
        case 'done':
          await untilSaid();
          if (state.reportsEnd) await tellParent(input);
          await noticeEnd(state, next.status, errorOf(outcome)?.code);
          return finish(next.status, outcome);
      }
    }
  }

  async function byLeg(next: Parameters<typeof carryOn>[2]): Promise<Next> {
    const followed = await carryOn(state, view, next);
    return followed === 'stopped' ? endedElsewhere() : followed;
  }

  /**
   * Waits for a model step. One that waits for its provider does not delay a stop, which has
   * already ended the run in the record.
   */
  async function untilSpoken(
    next: Extract<Next, { do: 'model' }>,
  ): Promise<StepOutcome | 'stopped'> {
    const spoken = speak(next);
    await Promise.race([spoken, condition(() => state.isEnded)]);
    if (!state.isEnded) return spoken;
    spoken.catch(() => undefined);
    return 'stopped';
  }

  function speak({ step, forceFinish }: Extract<Next, { do: 'model' }>): Promise<StepOutcome> {
    view.show('model', step);
    const { known, invalidFinishes } = state.carry;
    return untilKept(input, (options, lease) =>
      model.modelStep.executeWithOptions({ summary: `step ${String(step)}`, ...options }, [
        {
          ...runRef(state),
          turn: input.turn,
          step,
          maxSteps: input.maxSteps,
          known,
          forceFinish,
          ...(invalidFinishes > 0 && { invalidFinishes }),
          ...(input.parent !== undefined && { parent: input.parent, depth: input.parent.depth }),
          ...lease,
        },
      ]),
    );
  }

  /** Checked between two steps, when nothing is in progress, so a new execution is not noticed. */
  function isLong(): boolean {
    const { continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested && !state.carry.stopRequested;
  }

  /** Finishes operators' requests, and records a stop, before this execution ends. */
  async function untilSaid(): Promise<void> {
    await condition(() => state.recording === 0 && allHandlersFinished());
  }

  async function goOnAsNew(): Promise<void> {
    await untilSaid();
    // A stop that arrived meanwhile is in Redis: the next claim finds it.
    const { typedSearchAttributes } = workflowInfo();
    const { spent } = view.state();
    await makeContinueAsNewFunc<typeof agentRun>({ typedSearchAttributes })({
      ...input,
      startAt: undefined,
      from: { ...toProgress(state.carry), ...(spent && { spent }) },
    });
  }

  /** The record has ended this run. If it has not (a signal was sent by hand), it is ended now. */
  async function endedElsewhere(): Promise<Next> {
    return { do: 'done', status: await end('interrupted') };
  }

  function end(status: TerminalStatus): Promise<TerminalStatus | 'superseded'> {
    const { step, known } = state.carry;
    return bookkeeping.endRun.executeWithOptions({ summary: status }, [
      { ...runRef(state), step, status, known },
    ]);
  }

  function errorOf(outcome: StepOutcome | undefined): RunError | undefined {
    return outcome?.kind === 'ended' ? outcome.error : state.error;
  }

  function finish(
    status: TerminalStatus | 'superseded',
    outcome: StepOutcome | undefined,
  ): RunSummary {
    view.ended(status === 'superseded' ? 'interrupted' : status);
    const { traceUrl: trace } = input;
    if (status !== 'failed') return { status, steps: state.carry.step, trace };
    const error = errorOf(outcome);
    const { message = 'the run failed', code = 'run_failed' } = error ?? {};
    throw input.sealsFailures === true
      ? ApplicationFailure.nonRetryable(SEALED_FAILURE, code, { message })
      : ApplicationFailure.nonRetryable(message, code);
  }
}
