// The workflow of a run: what it decides, and the order in which it says so; see mutations.mjs.
const REPLAY = 'test/workflows/replay.test.ts';
const RECORDING = 'test/workflows/recording.test.ts';
const OPERATORS = 'test/workflows/operators.test.ts';

const replays = (name) =>
  `histories of releases v0.2.0-${name} replays on the workflow code of today`;

/** Commands in another order, or other ones: histories of releases do not replay. */
const order = [
  {
    defence: 'Replay: people are asked beside the tools, and before them',
    file: 'workflows/step-calls.ts',
    edits: [
      [
        'const asking = people.length > 0 ? ask() : undefined;',
        'const asking = undefined as ReturnType<typeof ask> | undefined;',
      ],
    ],
    test: replays('tools-beside-people'),
  },
  {
    defence: 'Replay: calls are carried out in the order in which they were asked for',
    file: 'workflows/step-calls.ts',
    edits: [['started.map(one)', '[...started].reverse().map(one)']],
    test: replays('sub-agent'),
  },
  {
    defence: 'Replay: operators see the calls before the work begins',
    file: 'workflows/step-calls.ts',
    edits: [
      ['for (const call of started) working.add(call);\n    show();\n', ''],
      [
        '    const one = async (call: CallRef): Promise<void> => {\n',
        '    const one = async (call: CallRef): Promise<void> => {\n      working.add(call);\n      void Promise.resolve().then(show);\n',
      ],
    ],
    test: replays('approval-signalled'),
  },
  {
    defence: 'Replay: a sub-agent has begun before its result is settled',
    file: 'workflows/sub-agent.ts',
    edits: [
      [
        '  const end = await carryOutChild(state, child, toolCallId);\n',
        '  await settle({});\n  const end = await carryOutChild(state, child, toolCallId);\n',
      ],
    ],
    test: replays('sub-agent'),
  },
  {
    defence: 'Replay: an overdue call is settled when its timer has fired, and not before',
    file: 'workflows/waiting.ts',
    edits: [
      [
        'else if (!(await condition(isNews, dueMs, { summary }))) {',
        'else if (dueMs > 0) {\n      dueMs = 0;',
      ],
    ],
    test: replays('deadline-expires'),
  },
  {
    defence: 'Replay: a stop is on record before the run ends for it',
    file: 'workflows/operators.ts',
    edits: [
      [
        '  state.recording += 1;\n',
        '  noteStop(state);\n  await Promise.resolve();\n  state.recording += 1;\n',
      ],
    ],
    test: replays('stop-by-update'),
  },
  {
    defence: 'Replay: the record ends before the workflow does',
    file: 'workflows/agent-run.ts',
    edits: [
      [
        "next = { do: 'done', status: await end(next.status) };",
        "next = { do: 'done', status: next.status };",
      ],
    ],
    test: replays('result-that-fits'),
  },
  {
    defence: 'Replay: a new execution begins between two steps',
    file: 'workflows/agent-run.ts',
    edits: [
      ['          if (isLong()) await goOnAsNew();\n', ''],
      [
        '          state.carry = takeStep(state.carry, outcome);\n',
        '          state.carry = takeStep(state.carry, outcome);\n          if (isLong()) await goOnAsNew();\n',
      ],
    ],
    test: replays('goes-on-as-new'),
  },
];

/** What is refused before it leaves a trace. */
const validators = [
  {
    defence: 'Updates: unknown fields are refused',
    file: 'workflows/operator-requests.ts',
    edits: [
      [
        '    if (!Object.hasOwn(fields, field)) refuse(`unknown field "${field.slice(0, 64)}"`);\n',
        '',
      ],
    ],
    test: `an operator in Temporal an operator's deny with {"toolCallId":"c1","approved":true} is refused, which leaves no trace`,
  },
  {
    defence: 'Updates: a call has to be named',
    file: 'workflows/operator-requests.ts',
    edits: [
      ['if (required === true && !Object.hasOwn(input, field)) refuse(', 'if (false) refuse('],
    ],
    test: "an operator in Temporal an operator's approve with {} is refused, which leaves no trace",
  },
  {
    defence: 'Updates: fields are of their type',
    file: 'workflows/operator-requests.ts',
    edits: [['if (fields[field]?.fits(value) === false) refuse(', 'if (false) refuse(']],
    test: `an operator in Temporal an operator's submitToolResult with {"toolCallId":"c1","error":7} is refused, which leaves no trace`,
  },
  {
    defence: 'Updates: a deadline is put off, not back',
    file: 'workflows/operator-requests.ts',
    edits: [
      ['Number.isSafeInteger(value) && (value as number) > 0', 'Number.isSafeInteger(value)'],
    ],
    test: `an operator in Temporal an operator's extendDeadline with {"toolCallId":"c1","byMs":-1} is refused, which leaves no trace`,
  },
  {
    defence: 'Updates: history’s fields beside those of the schema change nothing',
    file: 'workflows/operator-requests.ts',
    edits: [
      [
        'for (const field of Object.keys(FIELDS[name])) {',
        'for (const field of Object.keys(given as object)) {',
      ],
    ],
    test: "what an operator asks for an operator's request is selected by name",
    suite: 'test/workflows/operator-requests.test.ts',
  },
  {
    defence: 'A signal sent by hand tells nothing of how far the store has come',
    file: 'protocol/carry.ts',
    edits: [
      [
        '  return { ...carry, released: [...others,',
        '  return { ...learn(carry, signal?.sequence), released: [...others,',
      ],
    ],
    test: 'an operator in Temporal a signal sent by hand answers no call: only the record decides, whatever the numbers',
  },
  {
    defence: 'The record says that an answer came through Temporal',
    file: 'activities/answers.ts',
    edits: [["      actor: { via: 'temporal' },\n", '']],
    test: 'an operator in Temporal an operator approves, with another input',
  },
].map((mutation) => ({ suite: OPERATORS, ...mutation }));

export const runs = [
  ...order.map((mutation) => ({ suite: REPLAY, ...mutation })),
  ...validators,
  {
    defence: 'A run that is woken too early asks its people again',
    file: 'protocol/carry.ts',
    edits: [['step === asked - 1 ? calls.filter(isAsked) : []', '[]']],
    suite: 'test/protocol/carry.test.ts',
    test: 'what follows a step a wake-up that comes too early asks the same question, so that approved calls are executed',
  },
  {
    defence: 'A stop reaches sub-agents that wait for people',
    file: 'workflows/sub-agent.ts',
    edits: [['handle.signal(SIGNALS.stop, { recorded: true })', 'undefined']],
    suite: RECORDING,
    test: 'a run sub-agent-stopped-child replays as it went',
  },
  {
    defence: 'A new execution knows how often a result did not fit',
    file: 'protocol/carry.ts',
    edits: [['    known,\n    invalidFinishes,\n', '    known,\n    invalidFinishes: 0,\n']],
    suite: 'test/protocol/carry.test.ts',
    test: 'what follows a step carry counts results that do not fit, over a new execution too',
  },
  {
    defence: 'A tool that ends the run does so once its siblings are settled',
    file: 'workflows/step-calls.ts',
    edits: [['  if (finish === true) state.carry = { ...state.carry, isFinished: true };\n', '']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that ends the run a tool that ends the run does so after its siblings, with what it makes of its result',
  },
  {
    defence: 'A cancelled workflow settles what is open before it ends',
    file: 'workflows/agent-run.ts',
    edits: [['return CancellationScope.nonCancellable(run);', 'return run();']],
    suite: 'test/workflows/agent-run.test.ts',
    test: 'a run on a worker cancelled in Temporal stops: while the model speaks and while it waits',
  },
  {
    defence: 'A failed run fails its workflow',
    file: 'workflows/agent-run.ts',
    edits: [["if (status !== 'failed') return", 'if (status) return']],
    suite: 'test/workflows/agent-run.test.ts',
    test: 'a run on a worker a run that fails fails its workflow with the typed code, and the session stays usable',
  },
];
