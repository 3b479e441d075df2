import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  setHandler,
} from '@temporalio/workflow';
import {
  type OperatorAnswer,
  type Refused,
  QUERIES,
  SIGNALS,
  UPDATES,
} from '../protocol/temporal.js';
import { workflowIdOf } from '../protocol/ids.js';
import type { AgentState, Hint } from '../protocol/run.js';
import { retryWhileLost } from './attempts.js';
import {
  checkRequest,
  pickRequest,
  toResultAnswer,
  type OperatorRequests,
} from './operator-requests.js';
import { answers, bookkeeping } from './proxies.js';
import { runRef, type Run } from './run.js';

const stopSignal = defineSignal(SIGNALS.stop);
const look = defineSignal<[(Hint | null)?]>(SIGNALS.look);
const lookAtOnce = defineUpdate<unknown, [(Hint | null)?]>(UPDATES.look);
const reportEnd = defineSignal(SIGNALS.reportEnd);
const agentState = defineQuery<AgentState>(QUERIES.agentState);

/** Registers the run's signals, queries and updates. Validators refuse malformed updates without a trace in history. */
export function listenToOperators(run: Run): void {
  setHandler(stopSignal, () => void recordStop(run, { reason: 'signalled in Temporal' }), {
    description: 'Stops the run: keeps the partial reply and settles open calls.',
  });
  const onLook = { description: 'Lets the run read its record again. Harmless at any time.' };
  const take = (hint?: Hint | null): void => {
    takeLook(run, hint);
  };
  setHandler(look, take, onLook);
  setHandler(lookAtOnce, take, onLook);
  setHandler(reportEnd, () => void (run.reportsEnd = true), {
    description: 'From a parent that was reset: asks this run to report its end.',
  });
  setHandler(agentState, () => run.view.state(), {
    description: 'Step, phase and what the run waits for.',
  });
  onUpdate('approve', {
    take: (input) => answer(run, { ...input, approved: true }),
    description:
      'Approves a pending call: {toolCallId, approvalId?, inputHash?, input?, reason?, by?}. A call with approvers needs both.',
  });
  onUpdate('deny', {
    take: (input) => answer(run, { ...input, approved: false }),
    description: 'Denies a pending call: {toolCallId, approvalId?, inputHash?, reason?, by?}.',
  });
  onUpdate('submitToolResult', {
    take: (input) => answer(run, toResultAnswer(input)),
    description:
      'Answers a call of a client tool: {toolCallId, approvalId?, inputHash?, result | error, by?}.',
  });
  onUpdate('extendDeadline', {
    take: async (wanted) => {
      const extend = () => answers.extendDeadline({ ...wanted, ...runRef(run) });
      const outcome = await retryWhileLost({}, extend, ['extended', 'refused']);
      if (outcome.kind === 'refused') throw refused(outcome);
      return { deadline: outcome.deadline };
    },
    description:
      'Extends the deadline of a pending call: {toolCallId, approvalId?, inputHash?, byMs, by?}.',
  });
  onUpdate('stop', {
    take: async (wanted) => {
      await recordStop(run, wanted);
      return 'stopping';
    },
    description: "Stops the run: {mode?: 'interrupt' | 'abort', reason?, by?}.",
  });
  CancellationScope.current().cancelRequested.catch(() =>
    recordStop(run, { reason: 'cancelled in Temporal' }),
  );
}

function onUpdate<Name extends keyof OperatorRequests>(
  name: Name,
  update: { take: (wanted: OperatorRequests[Name]) => Promise<unknown>; description: string },
): void {
  const { take, description } = update;
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES[name]),
    (input) => take(pickRequest(name, input)),
    {
      description,
      validator: (input) => {
        checkRequest(name, input);
      },
    },
  );
}

/** Accepts any payload: a signal handler that throws would fail the workflow task. */
function takeLook(run: Run, hint: Hint | null | undefined): void {
  if (hint?.at === undefined) run.looks += 1;
  const { traceparent } = hint ?? {};
  // Activities get it, and Temporal limits their input.
  if (typeof traceparent === 'string' && traceparent.length <= 256) run.traceparent = traceparent;
  run.loop.look(hint);
}

async function answer(run: Run, operatorAnswer: OperatorAnswer): Promise<string> {
  const options = { summary: `answer to ${operatorAnswer.toolCallId}` };
  const ref = { ...runRef(run), answer: operatorAnswer, at: Date.now() };
  const store = () => answers.answerCall.executeWithOptions(options, [ref]);
  const outcome = await retryWhileLost({}, store, ['edited', 'refused']);
  if (outcome.kind === 'refused') {
    // After a reset, Temporal delivers the old execution's updates again; the record already has the answer.
    if (outcome.code === 'already_completed') run.loop.look();
    throw refused(outcome);
  }
  if (outcome.kind === 'edited') return outcome.kind;
  const { runId, at } = outcome;
  if (runId === run.input.runId) run.loop.adopt(at);
  else {
    // The call belongs to a sub-agent. If that run is gone, its parent settles the open calls.
    const owner = getExternalWorkflowHandle(workflowIdOf(runId));
    await owner.signal(look, { at }).catch(() => undefined);
  }
  return outcome.kind;
}

/** Records a stop. `recording` keeps the workflow open until then, since Temporal waits for update handlers only. */
async function recordStop(
  run: Run,
  { mode = 'interrupt', reason, by }: OperatorRequests['stop'],
): Promise<void> {
  run.recording += 1;
  try {
    const { at, waited } = await CancellationScope.nonCancellable(() =>
      bookkeeping.stopRun({ ...runRef(run), stop: { mode, reason, by } }),
    );
    run.loop.adopt(at);
    if (waited === true) run.loop.look({ ended: true });
  } finally {
    run.recording -= 1;
  }
}

function refused({ code, waiting }: Refused): ApplicationFailure {
  const now = waiting === undefined ? '' : ` What waits now is in the details.`;
  const text = `The answer was not taken: ${code}.${now}`;
  return ApplicationFailure.nonRetryable(text, code, ...(waiting === undefined ? [] : [waiting]));
}
