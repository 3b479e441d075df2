// What activities, the executor and the bridge to clients guard against; see mutations.mjs.
const BAD_MODEL = 'test/activities/bad-model.test.ts';
const SPENDING = 'test/activities/spending.test.ts';
const OUTPUT = 'test/activities/structured-output.test.ts';
const TOOL_CALL = 'test/activities/tool-call.test.ts';
const SWEEP = 'test/executor/sweep.test.ts';
const TRANSFORMER = 'test/ai-sdk/stream-transformer.test.ts';
const DEAD_ATTEMPTS = 'test/ai-sdk/dead-attempts.test.ts';
const INTENT = 'test/ai-sdk/extract-resume-intent.test.ts';

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
    test: 'a model that goes silent now and then, but not for so long, is heard out',
  },
  {
    defence: 'A started tool is not executed again by another attempt of its activity',
    file: 'stores/transitions/start-call.ts',
    edits: [["if (call.again !== '1') {", 'if (false) {']],
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
    defence: 'A tool is not tried again for ever',
    file: 'activities/tool/execute-tool.ts',
    edits: [['number < retry.attempts', 'number < retry.attempts + 1']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that may be tried again gives up in the end, and its last error is told to the model',
  },
  {
    defence: 'A worker that is told to go finishes what is at work',
    file: 'worker/worker-settings.ts',
    edits: [["shutdownGraceTime: '30s'", "shutdownGraceTime: '0s'"]],
    suite: 'test/worker/drain.test.ts',
    test: 'a worker that is told to go lets the call at work come to its end',
  },
  {
    defence: 'A run that writes nothing for long is said to be stalled',
    file: 'stores/record/stalled.ts',
    edits: [['now - updatedAt > LIMITS.stalledMs', 'now - updatedAt > 2 * LIMITS.stalledMs']],
    suite: 'test/executor/no-worker.test.ts',
    test: 'while no worker is there a message is accepted and shown; it is answered when a worker comes',
  },
  {
    defence: 'A result of a run that waits says which calls have results already',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'settled') hasSettled = true;", '']],
    test: 'commit does not pause while a server tool is to run; its result does',
  },
  {
    defence: 'A result of a run that waits names the sub-agents that ask',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'open') children.push(childJson(session, id));", '']],
    test: 'a sub-agent keeps the conversation active until it rests, then pauses it and is answered there',
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
    test: 'begin while a person is asked carries out nothing that was only approved',
  },
  {
    defence: 'A stop cuts a tool that does not listen',
    file: 'activities/tool-call.ts',
    edits: [
      [
        "      unlisten = await streamManager.onStop(ref.sessionId, () => {\n        attempt.cut('stop');\n      });\n",
        '',
      ],
    ],
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
    file: 'activities/model/model-step.ts',
    edits: [['hasReached(agent.spendCap, used)\n', 'hasReached(agent.spendCap, undefined)\n']],
    suite: SPENDING,
    test: 'a cap on what a run may use holds for failing attempts of one step, too',
  },
  {
    defence: 'A result that does not fit goes back to the model twice, and no more',
    file: 'activities/model/step-outcome.ts',
    edits: [['invalidFinishes + 1 >= LIMITS.invalidFinishes', 'invalidFinishes > 99']],
    suite: OUTPUT,
    test: 'an agent with an output schema is told what does not fit, and fails the third time',
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
    file: 'executor/decide-sweep.ts',
    edits: [["  if (isUntaken && now - record.updatedAt > UNTAKEN_MS) return 'wake';\n", '']],
    suite: SWEEP,
    test: 'the sweep gives a run an answer whose signal was lost',
  },
  {
    defence: 'Sweep: a sub-agent’s answer whose signal was lost is given again',
    file: 'executor/decide-sweep.ts',
    edits: [[' || record.wakes !== undefined', '']],
    suite: 'test/executor/sub-agents.test.ts',
    test: 'a sub-agent whose wake-up was lost is woken by a sweep',
  },
  {
    defence: 'Sweep: a stop whose signal was lost is given again',
    file: 'executor/decide-sweep.ts',
    edits: [["workflow === 'running' ? 'stop' : 'forget'", "'forget'"]],
    suite: SWEEP,
    test: 'the sweep ends the workflow of a run whose stop was lost',
  },
  {
    defence: 'Sweep: a run whose workflow is closed is ended',
    file: 'executor/decide-sweep.ts',
    edits: [["  if (workflow === 'closed') return 'fail';\n", '']],
    suite: SWEEP,
    test: 'the sweep ends a waiting run whose workflow was terminated',
  },
  {
    defence: 'Sweep: a run that was never started is started',
    file: 'executor/decide-sweep.ts',
    edits: [["  if (workflow === 'unknown') return 'start';\n", '']],
    suite: SWEEP,
    test: 'the sweep starts a run that was made and never started',
  },
  {
    defence: 'Sweep: a session is not forgotten while a run begins',
    file: 'executor/sweep.ts',
    edits: [
      [
        "!== 'forget') await store.due.note",
        "=== 'look') await Promise.resolve() && store.due.note",
      ],
    ],
    suite: SWEEP,
    test: 'the sweep does not lose sight of a run that begins while the one before is forgotten',
  },
  {
    defence: 'Answers: those of another run than the one that asked are not taken',
    file: 'ai-sdk/extract-resume-intent.ts',
    edits: [['if (runId !== (call?.runId ?? currentRunId)) {', 'if (runId === undefined) {']],
    suite: INTENT,
    test: 'extractResumeIntent rejects an answer for an older run',
  },
  {
    defence: 'Bridge: an end behind a call is guarded',
    file: 'ai-sdk/stream-transformer.ts',
    edits: [['guard: !isPaused && !isBlank', 'guard: false']],
    suite: TRANSFORMER,
    test: 'StreamTransformer guards an end behind a call, not a pause',
  },
  {
    defence: 'Bridge: who holds part of a dead attempt is cut',
    file: 'ai-sdk/stream-transformer.ts',
    edits: [
      ["if (message.type === 'step_discarded') this.#discard(message, result);\n    else if", 'if'],
    ],
    suite: DEAD_ATTEMPTS,
    test: 'an attempt that died cuts a reader who was given part of it',
  },
];
