// Defences of the test kit and of evaluation.
const LANES = 'test/testing/eval/lanes.test.ts';
const UNCHANGED = 'an unchanged agent does what was recorded';
const MATCHES = 'test/testing/matches.test.ts';

export const testKit = [
  {
    defence: 'Evaluation: of equal calls each is decided as it was',
    file: 'testing/eval/recorded-calls.ts',
    edits: [['      if (known !== undefined) return known;\n', '']],
    suite: LANES,
    test: `${UNCHANGED} of equal calls each is decided as it was`,
  },
  {
    defence: 'Evaluation: a question that was left behind is no drift',
    file: 'testing/eval/run-lane.ts',
    edits: [['if (found !== undefined && wasLeft(found, question.kind)) return false;', '']],
    suite: LANES,
    test: `${UNCHANGED} questions that were left behind by another message are left again`,
  },
  {
    defence: 'Evaluation: a conversation that was stopped at a question is stopped there',
    file: 'testing/eval/run-lane.ts',
    edits: [['!STOPPED.has(recording.status)', 'true']],
    suite: LANES,
    test: `${UNCHANGED} a conversation that was stopped at a question is stopped there`,
  },
  {
    defence: 'Evaluation: a tool for --live that no agent has is refused',
    file: 'cli/eval/run-cases.ts',
    edits: [['  checkLive(live, agents);\n', '']],
    suite: 'test/testing/eval/cases.test.ts',
    test: 'eval run a tool for --live that no agent has is refused',
  },
  {
    defence: 'Evaluation: one that is ended early leaves what it has found',
    file: 'cli/eval/run-cases.ts',
    edits: [
      ['    await write?.(reports);\n', ''],
      ['  return reports;\n', '  await write?.(reports);\n  return reports;\n'],
    ],
    suite: 'test/e2e/eval-ended-early.test.ts',
    test: 'an evaluation that is ended in its middle leaves what it has found and names what has not run',
  },
  {
    defence: 'Test kit: what has no keys of its own does not match anything',
    file: 'testing/matches.ts',
    edits: [['  if (!isPlain(expected)) return isDeepStrictEqual(actual, expected);\n', '']],
    suite: MATCHES,
    test: 'what a test expects of a value what has no keys of its own does not match any object',
  },
  {
    defence: 'Test kit: a pattern matches each time',
    file: 'testing/matches.ts',
    edits: [['actual.search(expected) >= 0', 'expected.test(actual)']],
    suite: MATCHES,
    test: 'what a test expects of a value a pattern matches each time, with any flags',
  },
];
