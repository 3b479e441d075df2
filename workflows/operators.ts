import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow';
import type { AnswerOutcome, OperatorAnswer } from '../protocol/activities.js';
import { workflowIdOf } from '../protocol/ids.js';
import type { AgentState, AnswerSignal, StopMode, StopSignal } from '../protocol/run.js';
import { QUERIES, SIGNALS, UPDATES } from '../protocol/temporal-names.js';
import { learn, takeAnswer } from './carry.js';
import type { OperatorsView } from './operators-view.js';
import { answers, bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

interface Decided {
  toolCallId: string;
  reason?: string;
  by?: string;
}

const answerSignal = defineSignal<[AnswerSignal]>(SIGNALS.answer);
const stopSignal = defineSignal<[StopSignal?]>(SIGNALS.stop);
const agentState = defineQuery<AgentState>(QUERIES.agentState);
const approve = defineUpdate<string, [Decided & { input?: unknown }]>(UPDATES.approve);
const deny = defineUpdate<string, [Decided]>(UPDATES.deny);
const submitToolResult = defineUpdate<
  string,
  [{ toolCallId: string; result?: unknown; error?: string; by?: string }]
>(UPDATES.submitToolResult);
const extendDeadline = defineUpdate<
  { deadline: number },
  [{ toolCallId: string; byMs: number; by?: string }]
>(UPDATES.extendDeadline);
const stop = defineUpdate<string, [StopWish | null | undefined]>(UPDATES.stop);

interface StopWish {
  mode?: StopMode;
  reason?: string;
  by?: string;
}

/**
 * What can be said to a run from outside. Signals never throw, whatever they carry; updates are
 * refused by their validators before they leave a trace, or by the store with its code.
 */
export function listenToOperators(state: RunState, view: OperatorsView): void {
  setHandler(
    answerSignal,
    (signal) => {
      state.carry = takeAnswer(state.carry, signal);
    },
    { description: 'An answer to a pending call was stored; resume when its batch is complete.' },
  );
  setHandler(
    stopSignal,
    (signal) => {
      // Sent by hand it may carry anything, also null.
      if ((signal as StopSignal | null)?.recorded === true) noteStop(state);
      else void recordStop(state, { reason: 'signalled in Temporal' });
    },
    { description: 'Stops the run: keeps the partial reply and settles open calls.' },
  );
  setHandler(agentState, () => view.state(), {
    description: 'Step, phase and what the run waits for.',
  });
  setHandler(
    approve,
    ({ toolCallId, ...said }) => answer(state, { toolCallId, approved: true, ...said }),
    {
      description: 'Approves a pending call: {toolCallId, input?, reason?, by?}.',
      validator: checkCall,
    },
  );
  setHandler(
    deny,
    ({ toolCallId, ...said }) => answer(state, { toolCallId, approved: false, ...said }),
    { description: 'Denies a pending call: {toolCallId, reason?, by?}.', validator: checkCall },
  );
  setHandler(
    submitToolResult,
    ({ toolCallId, result, error, by }) => {
      const who = by === undefined ? {} : { by };
      return answer(
        state,
        error === undefined
          ? { toolCallId, result: result ?? null, ...who }
          : { toolCallId, error, ...who },
      );
    },
    {
      description: 'Answers a call of a client tool: {toolCallId, result | error, by?}.',
      validator: (given: unknown) => {
        checkCall(given);
        const { error } = given as { error?: unknown };
        if (error !== undefined && typeof error !== 'string') refuse('error must be text');
      },
    },
  );
  setHandler(
    extendDeadline,
    async (given) => {
      const { sessionId, runId } = state.input;
      const outcome = await answers.extendDeadline({ sessionId, runId, ...given });
      if (outcome.kind === 'refused') throw refused(outcome.code);
      return { deadline: outcome.deadline };
    },
    {
      description: 'Puts the deadline of a pending call off: {toolCallId, byMs, by?}.',
      validator: (given: unknown) => {
        checkCall(given);
        const { byMs } = given as { byMs?: unknown };
        if (!(typeof byMs === 'number' && Number.isSafeInteger(byMs) && byMs > 0)) {
          refuse('byMs must be a whole number of milliseconds above 0');
        }
      },
    },
  );
  setHandler(
    stop,
    async (given) => {
      await recordStop(state, given ?? {});
      return 'stopping';
    },
    {
      description: "Stops the run: {mode?: 'interrupt' | 'abort', reason?, by?}.",
      validator: (given: unknown) => {
        const mode = (given as { mode?: unknown } | null | undefined)?.mode;
        if (mode !== undefined && mode !== 'interrupt' && mode !== 'abort') {
          refuse("mode must be 'interrupt' or 'abort'");
        }
      },
    },
  );
  // Cancel in the Temporal UI means stop.
  CancellationScope.current().cancelRequested.catch(() =>
    recordStop(state, { reason: 'cancelled in Temporal' }),
  );
}

async function answer(state: RunState, given: OperatorAnswer): Promise<string> {
  const outcome: AnswerOutcome = await answers.answerCall.executeWithOptions(
    { summary: `answer to ${given.toolCallId}` },
    [{ ...runRef(state), answer: given }],
  );
  if (outcome.kind === 'refused') throw refused(outcome.code);
  const { runId, resume, sequence } = outcome;
  const signal: AnswerSignal = {
    toolCallId: given.toolCallId,
    sequence,
    ...(resume !== undefined && { resume }),
  };
  if (runId === state.input.runId) {
    state.carry = learn(takeAnswer(state.carry, signal), sequence);
  } else if (resume !== undefined) {
    // The call of a sub-agent. Should it be gone, its parent settles what is open.
    const owner = getExternalWorkflowHandle(workflowIdOf(runId));
    await owner.signal(SIGNALS.answer, signal).catch(() => undefined);
  }
  return outcome.kind;
}

function recordStop(state: RunState, { mode = 'interrupt', reason, by }: StopWish): Promise<void> {
  return CancellationScope.nonCancellable(async () => {
    const { sessionId, runId } = state.input;
    const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
    await bookkeeping.stopRun({ sessionId, runId, stop: { mode, ...said } });
    noteStop(state);
  });
}

function noteStop(state: RunState): void {
  state.carry = { ...state.carry, stopRequested: true };
}

function checkCall(given: unknown): void {
  const id = (given as { toolCallId?: unknown } | null | undefined)?.toolCallId;
  if (typeof id !== 'string' || id === '') refuse('toolCallId is missing');
}

function refuse(why: string): never {
  throw ApplicationFailure.nonRetryable(why, 'validation_error');
}

function refused(code: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The answer was not taken: ${code}.`, code);
}
