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
import type { AgentState, AnswerSignal, StopSignal } from '../protocol/run.js';
import { QUERIES, SIGNALS, UPDATES } from '../protocol/temporal-names.js';
import { learn, takeAnswer } from './carry.js';
import {
  checkRequest,
  pickRequest,
  toResultAnswer,
  type OperatorRequests,
} from './operator-requests.js';
import type { OperatorsView } from './operators-view.js';
import { answers, bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

const answerSignal = defineSignal<[AnswerSignal]>(SIGNALS.answer);
const stopSignal = defineSignal<[StopSignal?]>(SIGNALS.stop);
const reportEnd = defineSignal(SIGNALS.reportEnd);
const childEnded = defineSignal<[{ toolCallId?: unknown }?]>(SIGNALS.childEnded);
const agentState = defineQuery<AgentState>(QUERIES.agentState);
const approve = defineUpdate<string, [OperatorRequests['approve']]>(UPDATES.approve);
const deny = defineUpdate<string, [OperatorRequests['deny']]>(UPDATES.deny);
const submitToolResult = defineUpdate<string, [OperatorRequests['submitToolResult']]>(
  UPDATES.submitToolResult,
);
const extendDeadline = defineUpdate<{ deadline: number }, [OperatorRequests['extendDeadline']]>(
  UPDATES.extendDeadline,
);
const stop = defineUpdate<string, [OperatorRequests['stop'] | null | undefined]>(UPDATES.stop);

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
      const { recorded, ended } = (signal as StopSignal | null) ?? {};
      if (recorded === true) noteStop(state, ended === true);
      else void recordStop(state, { reason: 'signalled in Temporal' });
    },
    { description: 'Stops the run: keeps the partial reply and settles open calls.' },
  );
  setHandler(
    reportEnd,
    () => {
      state.reportsEnd = true;
    },
    { description: 'Of a parent that was reset: it wants to be told of the end.' },
  );
  setHandler(
    childEnded,
    (signal) => {
      const id = (signal as { toolCallId?: unknown } | null | undefined)?.toolCallId;
      if (typeof id === 'string') state.endedChildren.add(id);
    },
    { description: 'A sub-agent has ended; the record says how.' },
  );
  setHandler(agentState, () => view.state(), {
    description: 'Step, phase and what the run waits for.',
  });
  setHandler(
    approve,
    (given) => answer(state, { ...pickRequest('approve', given), approved: true }),
    {
      description: 'Approves a pending call: {toolCallId, input?, reason?, by?}.',
      validator: (given: unknown) => {
        checkRequest('approve', given);
      },
    },
  );
  setHandler(deny, (given) => answer(state, { ...pickRequest('deny', given), approved: false }), {
    description: 'Denies a pending call: {toolCallId, reason?, by?}.',
    validator: (given: unknown) => {
      checkRequest('deny', given);
    },
  });
  setHandler(
    submitToolResult,
    (given) => answer(state, toResultAnswer(pickRequest('submitToolResult', given))),
    {
      description: 'Answers a call of a client tool: {toolCallId, result | error, by?}.',
      validator: (given: unknown) => {
        checkRequest('submitToolResult', given);
      },
    },
  );
  setHandler(
    extendDeadline,
    async (given) => {
      const { sessionId, runId } = state.input;
      const wanted = pickRequest('extendDeadline', given);
      const outcome = await answers.extendDeadline({ ...wanted, sessionId, runId });
      if (outcome.kind === 'refused') throw refused(outcome.code);
      return { deadline: outcome.deadline };
    },
    {
      description: 'Puts the deadline of a pending call off: {toolCallId, byMs, by?}.',
      validator: (given: unknown) => {
        checkRequest('extendDeadline', given);
      },
    },
  );
  setHandler(
    stop,
    async (given) => {
      await recordStop(state, pickRequest('stop', given));
      return 'stopping';
    },
    {
      description: "Stops the run: {mode?: 'interrupt' | 'abort', reason?, by?}.",
      validator: (given: unknown) => {
        checkRequest('stop', given);
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

/** What is recorded outside a handler of an update is waited for by nobody else. */
async function recordStop(
  state: RunState,
  { mode = 'interrupt', reason, by }: OperatorRequests['stop'],
): Promise<void> {
  const { sessionId, runId } = state.input;
  const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
  state.recording += 1;
  let isEnded: boolean;
  try {
    isEnded = await CancellationScope.nonCancellable(() =>
      bookkeeping().stopRun({ sessionId, runId, stop: { mode, ...said } }),
    );
  } finally {
    state.recording -= 1;
  }
  noteStop(state, isEnded);
}

function noteStop(state: RunState, isEnded: boolean): void {
  state.carry = { ...state.carry, stopRequested: true };
  state.isEnded ||= isEnded;
}

function refused(code: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The answer was not taken: ${code}.`, code);
}
