// The defences of runs that workflows of others begin; see mutations.mjs.
const CALLED = 'test/workflows/run-agent.test.ts';
const BEGUN = 'test/executor/called-runs.test.ts';
const WORK = 'test/workflows/tool-work.test.ts';
const TRIED = 'test/worker/called-run-activities.test.ts';

export const calledRuns = [
  {
    defence: 'Called run: a cancel of its caller stops it',
    file: 'workflows/run-agent.ts',
    edits: [
      ['stopping = CancellationScope.nonCancellable(stop);', 'stopping = Promise.resolve();'],
    ],
    suite: CALLED,
    test: 'a run whose caller ends a run is stopped when the workflow that called it is cancelled',
  },
  {
    defence: 'Called run: nor does it outlive a caller that is terminated',
    file: 'workflows/run-agent.ts',
    edits: [["parentClosePolicy = 'REQUEST_CANCEL' }", "parentClosePolicy = 'ABANDON' }"]],
    suite: CALLED,
    test: 'a run whose caller ends a run is stopped when the workflow that called it is terminated',
  },
  {
    defence: 'Called run: a try that finds its message accepted has the run of it',
    file: 'executor/called-runs.ts',
    edits: [
      [
        "if (!['begun', 'accepted', 'queued'].includes(result.kind)) {",
        "if (result.kind !== 'begun') {",
      ],
    ],
    suite: CALLED,
    test: 'a run whose workflow its caller does not start a message that was accepted before leads to the run that replied to it',
  },
  {
    defence: 'Called run: a message leads to its own run, not to the newest',
    file: 'stores/transitions/lib/accepted.ts',
    edits: [
      ['readRunOf(session, place.turn)', "readField(session, 'run')"],
      [
        "import { readHead } from './rows.js';",
        "import { readField } from './root.js';\nimport { readHead } from './rows.js';",
      ],
    ],
    suite: BEGUN,
    test: 'the run of a message a message that is sent again leads to its own run, whatever people wrote since',
  },
  {
    defence: 'Called run: a message that waits has no run yet',
    file: 'executor/run-of-message.ts',
    edits: [['throw new MessageWaitsError(sessionId);', '']],
    suite: BEGUN,
    test: 'the run of a message a message that is queued has no run until its turn comes',
  },
  {
    defence: 'Called run: a cancel does not reach a scope that is shielded from it',
    file: 'workflows/run-agent.ts',
    edits: [['if (isOver || !scope.consideredCancelled) return;', 'if (isOver) return;']],
    suite: CALLED,
    test: 'a run whose caller ends a cancel does not reach runs of a scope that is shielded from it',
  },
  {
    defence: 'Called run: it withdraws no question of people',
    file: 'executor/called-runs.ts',
    edits: [["keepsQuestions: whenBusy !== 'abandon',", 'keepsQuestions: false,']],
    suite: BEGUN,
    test: 'a conversation that waits for people refuses a run, unless its caller abandons the question',
  },
  {
    defence: 'Called run: a cancel stops the run whose reply was lost',
    file: 'workflows/run-agent.ts',
    edits: [
      [
        'if (!isCancelled && !isCancellation(error)) throw error;',
        'if (!isCancellation(error)) throw error;',
      ],
    ],
    suite: CALLED,
    test: 'a run whose caller ends a run whose caller is cancelled before it learns of the run is stopped',
  },
  {
    defence: 'Called run: one that its conversation does not have is not waited for',
    file: 'executor/run-result.ts',
    edits: [
      [
        "  if (info === undefined) throw new HelixError('not_found', 'There is no such run.');\n",
        '',
      ],
      ['if (info.endedAt === undefined)', 'if (info?.endedAt === undefined)'],
    ],
    suite: BEGUN,
    test: 'a run that its conversation does not have is not waited for',
  },
  {
    defence: 'Called run: a conversation that waits keeps the time of its next check',
    file: 'executor/begin-noted.ts',
    edits: [['mayWait && (await isBusy(sessions, sessionId))', 'false']],
    suite: BEGUN,
    test: 'a conversation that waits for people keeps the time of its next check, and strangers set none',
  },
  {
    defence: 'Called run: a caller that waits tries less and less often',
    file: 'worker/called-run-activities.ts',
    edits: [['TRIES.firstMs * 2 ** (attempt - 1)', 'TRIES.firstMs * Math.min(attempt, 1)']],
    suite: TRIED,
    test: 'a caller that waits tries less and less often: after try 2 in 4000 ms',
  },
  {
    defence: 'Called run: a conversation that waits for people is not looked up for each try',
    file: 'executor/create-runs.ts',
    edits: [["(mayWait && record.stream === 'paused')", "(mayWait && record.stream === 'none')"]],
    suite: BEGUN,
    test: 'a conversation that waits for people is not looked up in Temporal for each try, as a run that may be lost is',
  },
  {
    defence: 'Called run: a quota of runs refuses a caller that waits only for now',
    file: 'worker/called-run-activities.ts',
    edits: [["?.what === 'runs'", "?.what === 'queued'"]],
    suite: TRIED,
    test: 'a quota of runs refuses a caller that waits only for now, and others for good',
  },
  {
    defence: 'Called run: a message of an earlier build leads to the run that replied',
    file: 'executor/run-of-message.ts',
    edits: [['?? (await replied());', '?? (await replied().then(() => undefined));']],
    suite: BEGUN,
    test: 'the run of a message a message of a former turn of an earlier build leads to the run that replied',
  },
  {
    defence: 'Called run: a copied message leads to no run of the other conversation',
    file: 'executor/run-of-message.ts',
    edits: [['reply.runId.startsWith(`${sessionId}:`)', "reply.runId !== ''"]],
    suite: BEGUN,
    test: 'the run of a message a message that was copied with its reply leads to no run of the other conversation',
  },
  {
    defence: 'Called run: a queued message that is taken back is counted no longer',
    file: 'executor/called-runs.ts',
    edits: [['await store.owners.fold(sessionId);', '']],
    suite: BEGUN,
    test: 'the run of a message a queued message of a cancelled caller is taken back, and that of others is not',
  },
  {
    defence: 'Called run: one whose beginner died before it noted it is noted by the next try',
    file: 'executor/begin-noted.ts',
    edits: [["if (kind !== 'accepted') return", "if (kind !== 'busy') return"]],
    suite: BEGUN,
    test: 'a conversation that waits for people a run of a try that died before it noted it is noted by the next one',
  },
  {
    defence: 'Called run: one that is not a child is waited for',
    file: 'workflows/run-agent.ts',
    edits: [
      [
        'if (start === undefined) return undefined;',
        "if (start === undefined) throw new Error('not mine');",
      ],
    ],
    suite: CALLED,
    test: 'a run whose workflow its caller does not start a run that another workflow started is waited for, too',
  },
  {
    defence: 'Called run: a refusal is final',
    file: 'worker/called-run-activities.ts',
    edits: [['nonRetryable: true,', 'nonRetryable: false,']],
    suite: CALLED,
    test: 'a run that may not begin a refused run fails its caller with the code of the refusal',
  },
  {
    defence: "Tool of Temporal's: an attempt that takes over attaches to what was started",
    file: 'executor/tool-work.ts',
    edits: [
      [
        'const workflowId = toolWorkflowIdOf(runId, toolCallId);',
        'const workflowId = `${toolWorkflowIdOf(runId, toolCallId)}${String(Math.random())}`;',
      ],
    ],
    suite: WORK,
    test: 'work of a tool that Temporal executes an attempt that takes a call over waits for what the lost one has started',
  },
  {
    defence: "Tool of Temporal's: a stop cancels the work",
    file: 'executor/tool-work.ts',
    edits: [['if (!isHandedOver()) handle.cancel()', 'if (isHandedOver()) handle.cancel()']],
    suite: WORK,
    test: 'work of a tool that Temporal executes a stop cancels what it has started',
  },
  {
    defence: "Tool of Temporal's: one try that does not report may have had its effect",
    file: 'executor/tool-work-failure.ts',
    edits: [
      [
        'thrown instanceof TimeoutFailure && thrown.timeoutType === TimeoutType.SCHEDULE_TO_START;',
        'thrown instanceof TimeoutFailure && TimeoutType.SCHEDULE_TO_START !== undefined;',
      ],
    ],
    suite: WORK,
    test: 'work of a tool that Temporal executes an activity that does not report in time may have had its effect',
  },
  {
    defence: "Tool of Temporal's: there is one try unless the author says otherwise",
    file: 'agents/temporal-tools.ts',
    edits: [['retry: retry ?? { maximumAttempts: 1 }', 'retry: retry ?? { maximumAttempts: 2 }']],
    suite: WORK,
    test: 'a tool that is an activity: owner-step what it throws is the result, and it is not tried again',
  },
  {
    defence:
      "Tool of Temporal's: the model gets what its author's code threw, not the cause of that",
    file: 'executor/tool-work-failure.ts',
    edits: [['thrown.message, failed', '((thrown.cause ?? thrown) as Error).message, failed']],
    suite: WORK,
    test: 'a tool that is an activity: owner-step what it throws is the result, and it is not tried again',
  },
  {
    defence: "Tool of Temporal's: work that is ended from outside may have had its effect",
    file: 'executor/tool-work-failure.ts',
    edits: [
      ['    return toUnknown(work, failed);\n  }', '    return toUnstarted(work, failed);\n  }'],
    ],
    suite: WORK,
    test: 'work of a tool that Temporal executes work that an operator ends may have had its effect',
  },
  {
    defence: "Tool of Temporal's: nor is what has no status",
    file: 'executor/grpc-status.ts',
    edits: [
      [
        'if (code === undefined || !PASSING.has(code)) return false;',
        'if (code === undefined) return true;',
      ],
    ],
    suite: WORK,
    test: 'work of a tool that Temporal executes an input that Temporal cannot carry fails immediately',
  },
  {
    defence: "Tool of Temporal's: a refused start after a lost attempt says nothing of its work",
    file: 'executor/tool-work.ts',
    edits: [['let mayHaveStarted = isRepeated;', 'let mayHaveStarted = isRepeated && false;']],
    suite: WORK,
    test: 'work of a tool that Temporal executes what Temporal refuses ends immediately: an earlier attempt may have started it',
  },
  {
    defence: "Tool of Temporal's: a call executes one activity",
    file: 'activities/tool/call-context.ts',
    edits: [['hasWork = true;', 'hasWork = false;']],
    suite: WORK,
    test: 'work of a tool that Temporal executes a tool executes one activity',
  },
  {
    defence: "Tool of Temporal's: that work was started is recorded",
    file: 'activities/tool/call-context.ts',
    edits: [['once: (start) => journal.step(name, start),', 'once: (start) => start(),']],
    suite: 'test/activities/tool-work.test.ts',
    test: 'an attempt that takes over does not start what the lost one has recorded as started',
  },
];
