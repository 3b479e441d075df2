import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow';
import type { AnswerOutcome, OperatorAnswer, Refused } from '../protocol/activities.js';
import { workflowIdOf } from '../protocol/ids.js';
import type { AgentState, AnswerSignal, StopSignal } from '../protocol/run.js';
import { QUERIES, SIGNALS, UPDATES } from '../protocol/temporal-names.js';
import { learn, takeAnswer } from '../protocol/carry.js';
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
const look = defineSignal(SIGNALS.look);
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
 * Handlers for messages from outside. Signals never throw, whatever they carry. Updates are refused
 * by their validators before they leave a trace in history, or by the store with its code.
 */
export function listenToOperators(state: RunState, view: OperatorsView): void {
  setHandler(
    answerSignal,
    (signal) => {
      state.carry = takeAnswer(state.carry, signal);
      const { traceparent } = (signal as AnswerSignal | null) ?? {};
      if (typeof traceparent === 'string') state.traceparent = traceparent;
    },
    { description: 'An answer to a pending call was stored; resume when its batch is complete.' },
  );
  setHandler(
    stopSignal,
    (signal) => {
      // A signal sent by hand may carry anything, including null.
      const { recorded, ended } = (signal as StopSignal | null) ?? {};
      if (recorded === true) noteStop(state, ended === true);
      else void recordStop(state, { reason: 'signalled in Temporal' });
    },
    { description: 'Stops the run: keeps the partial reply and settles open calls.' },
  );
  setHandler(
    look,
    () => {
      state.looks += 1;
    },
    {
      description:
        'Lets the run read its record again, and go on from there. Harmless at any time.',
    },
  );
  setHandler(
    reportEnd,
    () => {
      state.reportsEnd = true;
    },
    { description: 'From a parent that was reset: asks this run to report its end.' },
  );
  setHandler(
    childEnded,
    (signal) => {
      const id = (signal as { toolCallId?: unknown } | null | undefined)?.toolCallId;
      if (typeof id === 'string') state.endedChildren.add(id);
    },
    { description: 'A sub-agent has ended; its outcome is in the record.' },
  );
  setHandler(agentState, () => view.state(), {
    description: 'Step, phase and what the run waits for.',
  });
  setHandler(
    approve,
    (input) => answer(state, { ...pickRequest('approve', input), approved: true }),
    {
      description:
        'Approves a pending call: {toolCallId, approvalId?, inputHash?, input?, reason?, by?}. A call with approvers needs both.',
      validator: (input: unknown) => {
        checkRequest('approve', input);
      },
    },
  );
  setHandler(deny, (input) => answer(state, { ...pickRequest('deny', input), approved: false }), {
    description: 'Denies a pending call: {toolCallId, approvalId?, inputHash?, reason?, by?}.',
    validator: (input: unknown) => {
      checkRequest('deny', input);
    },
  });
  setHandler(
    submitToolResult,
    (input) => answer(state, toResultAnswer(pickRequest('submitToolResult', input))),
    {
      description:
        'Answers a call of a client tool: {toolCallId, approvalId?, inputHash?, result | error, by?}.',
      validator: (input: unknown) => {
        checkRequest('submitToolResult', input);
      },
    },
  );
  setHandler(
    extendDeadline,
    async (input) => {
      const { sessionId, runId } = state.input;
      const wanted = pickRequest('extendDeadline', input);
      const outcome = await answers.extendDeadline({ ...wanted, sessionId, runId });
      if (outcome.kind === 'refused') throw refused(outcome);
      return { deadline: outcome.deadline };
    },
    {
      description:
        'Extends the deadline of a pending call: {toolCallId, approvalId?, inputHash?, byMs, by?}.',
      validator: (input: unknown) => {
        checkRequest('extendDeadline', input);
      },
    },
  );
  setHandler(
    stop,
    async (input) => {
      await recordStop(state, pickRequest('stop', input));
      return 'stopping';
    },
    {
      description: "Stops the run: {mode?: 'interrupt' | 'abort', reason?, by?}.",
      validator: (input: unknown) => {
        checkRequest('stop', input);
      },
    },
  );
  // Cancel in the Temporal UI means stop.
  CancellationScope.current().cancelRequested.catch(() =>
    recordStop(state, { reason: 'cancelled in Temporal' }),
  );
}

async function answer(state: RunState, operatorAnswer: OperatorAnswer): Promise<string> {
  const outcome: AnswerOutcome = await answers.answerCall.executeWithOptions(
    { summary: `answer to ${operatorAnswer.toolCallId}` },
    [{ ...runRef(state), answer: operatorAnswer, at: Date.now() }],
  );
  if (outcome.kind === 'refused') {
    // An execution that was reset takes the updates of the one before again: the record has the answer.
    if (outcome.code === 'already_completed') state.looks += 1;
    throw refused(outcome);
  }
  if (outcome.kind === 'edited') return outcome.kind;
  const { runId, resume, sequence } = outcome;
  const signal: AnswerSignal = {
    toolCallId: operatorAnswer.toolCallId,
    sequence,
    resume,
  };
  if (runId === state.input.runId) {
    state.carry = learn(takeAnswer(state.carry, signal), sequence);
  } else if (resume !== undefined) {
    // The call belongs to a sub-agent. If that one is gone, its parent settles what is open.
    const owner = getExternalWorkflowHandle(workflowIdOf(runId));
    await owner.signal(SIGNALS.answer, signal).catch(() => undefined);
  }
  return outcome.kind;
}

/** Nothing but the workflow itself waits for a stop that is recorded outside an update handler. */
async function recordStop(
  state: RunState,
  { mode = 'interrupt', reason, by }: OperatorRequests['stop'],
): Promise<void> {
  const { sessionId, runId } = state.input;
  state.recording += 1;
  let isEnded: boolean;
  try {
    isEnded = await CancellationScope.nonCancellable(() =>
      bookkeeping.stopRun({ sessionId, runId, stop: { mode, reason, by } }),
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

function refused({ code, waiting }: Refused): ApplicationFailure {
  const now = waiting === undefined ? '' : ` What waits now is in the details.`;
  const text = `The answer was not taken: ${code}.${now}`;
  return ApplicationFailure.nonRetryable(text, code, ...(waiting === undefined ? [] : [waiting]));
}
