import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  setHandler,
} from '@temporalio/workflow';
import type {
  AgentState,
  AnswerSignal,
  CallRef,
  RunInput,
  RunSummary,
  StepOutcome,
  StopSignal,
  TerminalStatus,
} from '../protocol/run.js';
import { QUERIES, SIGNALS } from '../protocol/temporal-names.js';
import {
  afterAnswers,
  afterStep,
  afterTools,
  INITIAL_CARRY,
  learn,
  releasedFor,
  takeAnswer,
  type Next,
} from './carry.js';
import { createOperatorsView } from './operators-view.js';
import { bookkeeping, model, tools } from './proxies.js';

const answerSignal = defineSignal<[AnswerSignal]>(SIGNALS.answer);
const stopSignal = defineSignal<[StopSignal?]>(SIGNALS.stop);
const agentStateQuery = defineQuery<AgentState>(QUERIES.agentState);

/**
 * One run of an agent: model steps and the tools they ask for, until nothing is left to do or a
 * person has to act. Redis is the record of everything; this code only decides what comes next,
 * so a fresh execution of the same run continues where the record stands.
 *
 * @returns how the run ended; a failed run fails the workflow with the run's error code as type
 */
export async function agentRun(input: RunInput): Promise<RunSummary> {
  let carry = INITIAL_CARRY;
  const view = createOperatorsView(input);
  setHandler(
    answerSignal,
    (signal) => {
      carry = takeAnswer(carry, signal);
    },
    { description: 'An answer to a pending call was stored; resume when its batch is complete.' },
  );
  setHandler(
    stopSignal,
    (signal) => {
      if (signal?.recorded === true) carry = { ...carry, stopRequested: true };
      else void recordStop('signalled in Temporal');
    },
    { description: 'Stops the run: keeps the partial reply and settles open calls.' },
  );
  setHandler(agentStateQuery, () => view.state(), {
    description: 'Step, phase and what the run waits for.',
  });
  CancellationScope.current().cancelRequested.catch(() => recordStop('cancelled in Temporal'));
  // A cancel from outside means stop, and a stop goes through Redis: nothing here is cancelled.
  return CancellationScope.nonCancellable(run);

  async function run(): Promise<RunSummary> {
    let next: Next = { do: 'model', step: 1 };
    let outcome: StepOutcome | undefined;
    for (;;) {
      switch (next.do) {
        case 'model': {
          view.show('model', next.step);
          outcome = await model.modelStep.executeWithOptions(
            { summary: `step ${String(next.step)}` },
            [
              {
                ...ref(),
                turn: input.turn,
                step: next.step,
                maxSteps: input.maxSteps,
                known: carry.known,
              },
            ],
          );
          if (outcome.kind === 'calls' || outcome.kind === 'ended')
            carry = learn({ ...carry, step: outcome.step }, outcome.sequence);
          next =
            outcome.kind === 'not_ready' ? await notReady(next.step) : afterStep(outcome, input);
          break;
        }
        case 'tools': {
          const step = outcome as Extract<StepOutcome, { kind: 'calls' }>;
          view.show('tools', step.step, next.calls);
          await Promise.all(next.calls.map((call) => runTool(step.step, call)));
          const released: boolean = next.calls.some(({ kind }) => kind !== 'server');
          next = released ? afterAnswers(step, [], input) : afterTools(step, input);
          break;
        }
        case 'wait': {
          const step = outcome as Extract<StepOutcome, { kind: 'calls' }>;
          const approved = await answers(step.step, next.for);
          next =
            approved === 'stopped' ? await endedElsewhere() : afterAnswers(step, approved, input);
          break;
        }
        case 'end':
          next = { do: 'done', status: await end(next.status) };
          break;
        case 'done':
          return finish(next.status, outcome);
      }
    }
  }

  async function runTool(step: number, call: CallRef): Promise<void> {
    const { sequence } = await tools.toolCall.executeWithOptions(
      {
        summary: call.toolName,
        ...(call.timeoutMs !== undefined && { startToCloseTimeout: call.timeoutMs + 30_000 }),
      },
      [{ ...ref(), step, toolCallId: call.toolCallId }],
    );
    carry = learn(carry, sequence);
  }

  /** No timer, no polling: whoever stores the last answer signals. */
  async function answers(
    step: number,
    waitingFor: readonly CallRef[],
  ): Promise<string[] | 'stopped'> {
    view.show('waiting', step, waitingFor);
    await condition(() => carry.stopRequested || releasedFor(carry, step) !== undefined);
    const approved = releasedFor(carry, step);
    carry = { ...carry, released: undefined };
    return approved ?? 'stopped';
  }

  /** A wake-up that the record did not bear out: wait for a true one. */
  async function notReady(step: number): Promise<Next> {
    const approved = await answers(step - 1, []);
    return approved === 'stopped' ? endedElsewhere() : { do: 'model', step };
  }

  /** The record has ended this run; if not (a signal sent by hand), it is ended now. */
  async function endedElsewhere(): Promise<Next> {
    return { do: 'done', status: await end('interrupted') };
  }

  function end(status: TerminalStatus): Promise<TerminalStatus | 'superseded'> {
    return bookkeeping.endRun.executeWithOptions({ summary: status }, [
      { ...ref(), step: carry.step, status, known: carry.known },
    ]);
  }

  function finish(
    status: TerminalStatus | 'superseded',
    outcome: StepOutcome | undefined,
  ): RunSummary {
    view.ended(status === 'superseded' ? 'interrupted' : status);
    if (status !== 'failed') return { status, steps: carry.step };
    const error = outcome?.kind === 'ended' ? outcome.error : undefined;
    throw ApplicationFailure.nonRetryable(
      error?.message ?? 'the run failed',
      error?.code ?? 'run_failed',
    );
  }

  function ref(): Pick<RunInput, 'sessionId' | 'runId' | 'agent'> {
    const { sessionId, runId, agent } = input;
    return { sessionId, runId, agent };
  }

  function recordStop(reason: string): Promise<void> {
    return CancellationScope.nonCancellable(async () => {
      const { sessionId, runId } = input;
      await bookkeeping.stopRun({ sessionId, runId, stop: { mode: 'interrupt', reason } });
      carry = { ...carry, stopRequested: true };
    });
  }
}
