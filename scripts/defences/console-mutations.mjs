// What the console shows operators; see mutations.mjs.
const CONSOLE_RUN = 'test/web/console-run.test.ts';

export const consolePage = [
  {
    defence: 'Console: what tools are given and return is text, never markup',
    file: 'web/src/tool-values.tsx',
    edits: [
      ['>{readable(value)}</pre>', ' dangerouslySetInnerHTML={{ __html: readable(value) }} />'],
    ],
    suite: CONSOLE_RUN,
    test: 'the console HTML in what a tool was given and returned is shown as the text that it is',
  },
  {
    defence: 'Console: the bar of what has ended is as long as it lasted',
    file: 'web/src/console/timeline.tsx',
    edits: [['(span.endedAt ?? now) - span.startedAt', 'now - span.startedAt']],
    suite: CONSOLE_RUN,
    test: 'the console the bar of a wait is as long as from the question to its decision',
  },
  {
    defence: 'Console: a model that failed before its first word has a bar',
    file: 'api/fold-timeline.ts',
    edits: [['if (!chunk.recoverable) fail(chunk, chunk.error, chunk.code);', '']],
    suite: 'test/api/fold-timeline.test.ts',
    test: 'createTimelineFold a model that failed before its first word has a bar of its own, with the reason',
  },
  {
    defence: "Console: another agent's model that failed before its first word has a bar",
    file: 'api/fold-timeline.ts',
    edits: [['        fail(speaker, error, cause);\n', '']],
    suite: 'test/api/fold-timeline.test.ts',
    test: "createTimelineFold another agent's model has a bar if that run failed before its first word, and none for other ends",
  },
  {
    defence: 'Console: the log says why the run of another agent failed',
    file: 'activities/settle-child.ts',
    edits: [['      ...(code !== undefined && { cause: code }),\n', '']],
    suite: 'test/executor/sub-agents.test.ts',
    test: 'a sub-agent a sub-agent returns a result of its schema, and a failed one is an error',
  },
  {
    defence: 'Console: a run that failed between its steps has no failed model',
    file: 'api/fold-timeline.ts',
    edits: [['NO_STEP.has(code) || from >= at', 'from >= at']],
    suite: 'test/api/fold-timeline.test.ts',
    test: 'createTimelineFold a run that has spent what it may has no failed model',
  },
  {
    defence: 'Console: nothing is decided together whose questions are not shown',
    file: 'web/src/console/waiting-view.tsx',
    edits: [
      [
        'import { usePages } from',
        "import { findChoices, WaitingChoice } from './waiting-choice.js';\nimport { usePages } from",
      ],
      [
        '      {waiting.data !== undefined && (\n        <Suspense',
        '      <WaitingChoice choices={findChoices(sessions, new Set())} chosen={new Set()} onChoose={() => undefined} />\n      {waiting.data !== undefined && (\n        <Suspense',
      ],
    ],
    suite: 'test/page/console-many.test.ts',
    test: 'nothing is decided together whose questions cannot be shown, and one alert says so',
  },
  {
    defence: 'Console: a batch has no call whose form was changed',
    file: 'web/src/console/waiting-choice.tsx',
    edits: [['.filter((choice) => !changed.has(keyOf(choice)))', '']],
    suite: 'test/web/waiting-choice.test.ts',
    test: 'a batch has no call whose form a person has changed',
  },
];
