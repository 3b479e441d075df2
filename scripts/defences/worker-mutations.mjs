// What activities, the executor and the bridge to clients guard against; see mutations.mjs.
const BAD_MODEL = 'test/activities/bad-model.test.ts';
const SPENDING = 'test/activities/spending.test.ts';
const OUTPUT = 'test/activities/structured-output.test.ts';
const TOOL_CALL = 'test/activities/tool-call.test.ts';
const OUTAGE = 'test/executor/outage.test.ts';
const ATTRIBUTES = 'test/executor/search-attributes.test.ts';
const SWEEP = 'test/executor/sweep.test.ts';
const TRANSFORMER = 'test/ai-sdk/parts/stream-transformer.test.ts';
const DEAD_ATTEMPTS = 'test/ai-sdk/parts/dead-attempts.test.ts';
const INTENT = 'test/ai-sdk/reply/resume-intent.test.ts';

export const workers = [
  {
    defence: 'A model that goes silent is given up',
    file: 'activities/model/ask-model.ts',
    edits: [['else controller.abort(new ModelStalledError());', 'else timer.refresh();']],
    suite: BAD_MODEL,
    test: 'a model that goes silent before its first word is given up and asked again',
  },
  {
    defence: 'A model that goes silent is given up, deaf or not',
    file: 'activities/model/ask-model.ts',
    edits: [["  signal.addEventListener('abort', leave, { once: true });\n", '']],
    suite: BAD_MODEL,
    test: 'a model that goes silent in the middle, deaf to its signal is given up and asked again',
  },
  {
    defence: 'A model that speaks now and then is heard out',
    file: 'activities/model/ask-model.ts',
    edits: [['      silence.heard();\n', '']],
    suite: BAD_MODEL,
    test: 'a model that goes silent now and then, but for less than the limit, is waited for',
  },
  {
    defence: 'A started tool is not executed again by another attempt of its activity',
    file: 'stores/transitions/start-call.ts',
    edits: [["if (call.again !== '1' || (isTaken", 'if ((isTaken']],
    suite: TOOL_CALL,
    test: 'tool call is carried out once however often Temporal tries, as long as the first try lives',
  },
  {
    defence: 'A tool gets its input as a person changed it',
    file: 'activities/tool-call.ts',
    edits: [['start.decision?.input ?? start.call.input', 'start.call.input']],
    suite: TOOL_CALL,
    test: 'tool call is carried out with what a person changed its input to, checked again',
  },
  {
    defence: 'A tool that may be tried again is, on whatever worker there is',
    file: 'activities/tool/execute-tool.ts',
    edits: [['number < retry.attempts', 'number < 2']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that may be tried again is, until it succeeds: one result, one activity, one key',
  },
  {
    defence: 'A tool is not retried indefinitely',
    file: 'activities/tool/execute-tool.ts',
    edits: [['number < retry.attempts', 'number < retry.attempts + 1']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that may be tried again gives up after the last attempt, and the model sees its last error',
  },
  {
    defence: 'A worker that is asked to stop finishes active steps',
    file: 'worker/worker-settings.ts',
    edits: [["shutdownGraceTime: '30s'", "shutdownGraceTime: '0s'"]],
    suite: 'test/worker/drain.test.ts',
    test: 'a worker that is asked to stop lets the running call finish',
  },
  {
    defence: 'A run that writes nothing for long is reported as stalled',
    file: 'stores/record/stalled.ts',
    edits: [['now - heard > LIMITS.stalledMs', 'now - heard > 2 * LIMITS.stalledMs']],
    suite: 'test/executor/no-worker.test.ts',
    test: 'while no worker is there a message is accepted and shown; it is answered when a worker comes',
  },
  {
    defence: 'A result of a run that waits says which calls have results already',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'settled') hasSettled = true;", '']],
    test: 'commit the run does not pause while a server tool must run, but with its result',
  },
  {
    defence: 'A result of a run that waits names the sub-agents that ask',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'open') children.push(childJson(session, id));", '']],
    test: 'a sub-agent keeps the conversation active until it pauses, then pauses it and is answered there',
  },
  {
    defence: 'Abandonment: a call that was only approved is not carried out',
    file: 'stores/transitions/lib/settling.ts',
    edits: [
      [
        "else if (state !== 'settled') {",
        "else if (state !== 'settled' && state !== 'approved') {",
      ],
    ],
    test: 'a message while a person is asked an approved call is not executed if the others are abandoned',
  },
  {
    defence: 'A stop cuts a tool that does not listen',
    file: 'activities/tool-call.ts',
    edits: [['      unlisten = await cutOnStop(deps, ref, attempt);\n', '']],
    suite: TOOL_CALL,
    test: 'tool call is cut by a stop, whether or not the tool listens',
  },
  {
    defence: 'A spent run makes no other model call',
    file: 'activities/model/step-outcome.ts',
    edits: [['  if (isSpent) return failed(step, SPEND_CAP_REACHED);\n', '']],
    suite: SPENDING,
    test: 'a cap on what a run may use of tokens ends it before the next model call, with what it has done',
  },
  {
    defence: 'A spent run does not ask a failing provider again',
    file: 'activities/model/step-tries.ts',
    edits: [['hasReached(agent.spendCap, used)\n', 'hasReached(agent.spendCap, undefined)\n']],
    suite: SPENDING,
    test: 'a cap on what a run may use holds for failing attempts of one step, too',
  },
  {
    defence: 'A result that does not fit goes back to the model twice, and no more',
    file: 'activities/model/step-outcome.ts',
    edits: [['invalidFinishes + 1 >= LIMITS.invalidFinishes', 'invalidFinishes > 99']],
    suite: OUTPUT,
    test: 'an agent with an output schema gets an error for what does not fit, and fails the third time',
  },
  {
    defence: 'The call beyond the step cap is the last one',
    file: 'activities/model/step-outcome.ts',
    edits: [['  if (step > maxSteps) return OUTPUT_MISSING;\n', '']],
    suite: OUTPUT,
    test: 'an agent with an output schema that hands in what does not fit beyond the step cap fails',
  },
  {
    defence: 'Sweep: an answer whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [["  if (isUntaken(record) && silentMs > UNTAKEN_MS) return 'wake';\n", '']],
    suite: SWEEP,
    test: 'the sweep gives a run an answer whose signal was lost',
  },
  {
    defence: 'Sweep: a sub-agent’s answer whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [[' || wakes !== undefined;', ';']],
    suite: 'test/executor/sub-agents.test.ts',
    test: 'a sub-agent whose wake-up was lost is woken by a sweep',
  },
  {
    defence: 'Sweep: a stop whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [["workflow === 'running' ? 'stop' : 'forget'", "'forget'"]],
    suite: SWEEP,
    test: 'the sweep ends the workflow of a run whose stop was lost',
  },
  {
    defence: 'Sweep: a run whose workflow is closed is ended',
    file: 'executor/sweep-session.ts',
    edits: [["  if (workflow === 'closed') return 'fail';\n", '']],
    suite: SWEEP,
    test: 'the sweep ends a waiting run whose workflow was terminated',
  },
  {
    defence: 'Sweep: a run that was never started is started',
    file: 'executor/sweep-session.ts',
    edits: [["isOverdue ? 'give_up' : 'start'", "isOverdue ? 'give_up' : 'nothing'"]],
    suite: SWEEP,
    test: 'the sweep starts a run that was made and never started',
  },
  {
    defence: 'Sweep: what was found at rest is looked at once more',
    file: 'executor/sweep.ts',
    edits: [["  if (list === 'urgent') return { list: 'routine', inMs: CONFIRM_MS };\n", '']],
    suite: SWEEP,
    test: 'the sweep finds a run that begins long after it was noted',
  },
  {
    defence: 'Sweep: a session that was noted while it was looked at stays listed',
    file: 'stores/transitions/put-due.ts',
    edits: [["  if (redis.call('ZSCORE', from, sessionId) !== taken) return 0;\n", '']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'sessions that are due a taken session is put elsewhere unless it was noted meanwhile',
  },
  {
    defence: 'Sweep: fleets on one Redis leave each other’s sessions alone',
    file: 'stores/redis/due-lists.ts',
    edits: [['createDueLists(context, other)', 'createDueLists(context, fleet)']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'sessions that are due a list holds the sessions of one fleet, and a page those of one shard',
  },
  {
    defence: 'Sweep: workflows that were closed from outside are asked for',
    file: 'executor/find-closed.ts',
    edits: [[' await due.note(sessionId, 0);', ' continue;']],
    suite: SWEEP,
    test: 'the sweep notes a waiting run whose workflow was terminated, by a query for such',
  },
  {
    defence: 'Sweep: a stop whose request died is carried out',
    file: 'executor/sweep-session.ts',
    edits: [
      ["  if (record.stop !== undefined && silentMs > UNCONFIRMED_MS) return 'enforce';\n", ''],
    ],
    suite: SWEEP,
    test: 'the sweep carries out a stop that no writer confirmed, and whose request died',
  },
  {
    defence: 'Sweep: what release 0.2.0 has noted is taken in',
    file: 'executor/sweep.ts',
    edits: [['      if (shard === 0) await due.adopt(ADOPTED);\n', '']],
    suite: SWEEP,
    test: 'the sweep takes in what release 0.2.0 has noted',
  },
  {
    defence: 'A message is not refused for want of the engine',
    file: 'executor/create-runs.ts',
    edits: [
      [
        "if (result.kind === 'begun') launch(result.run, input.tenant);\n    else",
        "if (result.kind === 'begun') await startRun(result.run, input.tenant);\n    else",
      ],
    ],
    suite: OUTAGE,
    test: 'starting a run is not waited for while Temporal is down; the sweep starts it afterwards',
  },
  {
    defence: 'A run that is not started in time ends',
    file: 'executor/sweep-session.ts',
    edits: [["isOverdue ? 'give_up' : 'start'", "'start'"]],
    suite: OUTAGE,
    test: 'starting a run is not waited for while Temporal is down; the sweep starts it afterwards',
  },
  {
    defence: 'A run that is starting is erased without the engine',
    file: 'executor/create-runs.ts',
    edits: [["if (record.status !== 'starting') await signalled;", 'await signalled;']],
    suite: 'test/executor/delete.test.ts',
    test: 'a session that is erased while its run is starting needs no engine; its workflow finds nothing and ends',
  },
  {
    defence: 'Search attributes of another type are not used',
    file: 'executor/search-attributes.ts',
    edits: [['    if (entries.some(isOther)) return false;\n', '']],
    suite: ATTRIBUTES,
    test: 'a search attribute of another type is noticed: runs go without attributes',
  },
  {
    defence: 'A run whose search attributes are refused is started without',
    file: 'executor/run-workflows.ts',
    edits: [
      ['        if (isBare || !isRefusedForGood(error)) throw error;\n', '        throw error;\n'],
    ],
    suite: ATTRIBUTES,
    test: 'a search attribute of another type that comes later does not refuse a run, which goes without attributes',
  },
  {
    defence: 'A run that is refused for good ends',
    file: 'executor/create-runs.ts',
    edits: [['if (!isRefusedForGood(error)) throw error;', 'throw error;']],
    suite: ATTRIBUTES,
    test: 'a run that Temporal refuses for good ends typed, and the next message is taken',
  },
  {
    defence: 'An older version that starts again takes no new runs',
    file: 'worker/versioning.ts',
    edits: [
      ["    if (current != null && current !== '' && current !== from) return current;\n", ''],
    ],
    suite: 'test/worker/agent-plugin.test.ts',
    test: 'versioning an old version that is started again does not take new runs back',
  },
  {
    defence: 'Readiness: what is away after it was seen takes no process out',
    file: 'api/readiness.ts',
    edits: [['away.every((name) => name !== NEEDED && seen.has(name))', 'away.length === 0']],
    suite: 'test/api/access.test.ts',
    test: 'failures and readiness the server is ready once every part was seen, while Redis answers, and names parts that are away',
  },
  {
    defence: 'Answers: those of another run than the one that asked are not taken',
    file: 'ai-sdk/reply/resume-intent.ts',
    edits: [['if (runId !== (call?.runId ?? currentRunId)) {', 'if (runId === undefined) {']],
    suite: INTENT,
    test: 'extractResumeIntent rejects an answer for an older run',
  },
  {
    defence: 'Bridge: an end behind a call is guarded',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [['guard: !isPaused && !isBlank', 'guard: false']],
    suite: TRANSFORMER,
    test: 'StreamTransformer guards an end behind a call, not a pause',
  },
  {
    defence: 'Bridge: who holds part of a dead attempt is cut',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [
      ["if (message.type === 'step_discarded') this.#discard(message, result);\n    else if", 'if'],
    ],
    suite: DEAD_ATTEMPTS,
    test: 'an attempt that died cuts a reader who was given part of it',
  },
  {
    defence: 'Liveness: a worker that cannot write does not report itself alive',
    file: 'activities/attempt.ts',
    edits: [['if (canWrite()) context', 'context']],
    suite: 'test/e2e/cut-off-worker.test.ts',
    test: 'a worker that cannot write does not report itself alive: another one takes its step over',
  },
  {
    defence: 'Stop: a late message about an earlier run cuts nothing',
    file: 'activities/cut-on-stop.ts',
    edits: [['return stopped === runId;', 'return true;']],
    suite: 'test/activities/model-step.test.ts',
    test: 'model step is not cut by a late message about a run before it',
  },
];
