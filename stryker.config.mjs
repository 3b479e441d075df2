// `MUTATE=<group> npm run mutate`: changes a file in every way that Stryker knows, one at a time,
// and runs the tests that concern it: what survives is a line that no test would miss. Minutes to
// an hour for each group; its report names them.
// TEST_REDIS_URL and TEST_TEMPORAL_ADDRESS, where servers run already, save starting them for each change.

/** The files where a silent regression costs most, each with the tests that have to notice it. */
const GROUPS = {
  session: ['session/{answers,finish,steps}.ts', 'test/session'],
  append: [
    'activities/chunk-writer.ts',
    'test/activities/chunk-writer test/activities/silent-writer',
  ],
  'tool-call': [
    'activities/tool-call.ts',
    'test/activities/tool-call test/activities/attempts test/activities/lease.test',
  ],
  classify: [
    'ai-sdk/reply/classify.ts',
    'test/ai-sdk/reply/classify test/ai-sdk/reply/build-snapshot test/ai-sdk/reply/session-reads',
  ],
  'stream-transformer': [
    'ai-sdk/parts/stream-transformer.ts',
    'test/ai-sdk/parts test/ai-sdk/rows-equal-log',
  ],
  tail: [
    'store/redis/tail/*.ts',
    'test/store/redis/tail test/store/redis/kept-pages test/store/redis/cursor test/store/redis/rewound-reader',
  ],
};

const group = GROUPS[process.env.MUTATE];
if (group === undefined) throw new Error(`MUTATE names one of: ${Object.keys(GROUPS).join(', ')}`);
const [mutate, tests] = group;

export default {
  mutate: [mutate],
  testRunner: 'command',
  commandRunner: { command: `npm test -- ${tests}` },
  // Engines and workers of two runs share the machine.
  concurrency: 2,
  timeoutMS: 120_000,
  // The first run builds.
  dryRunTimeoutMinutes: 15,
  ignorePatterns: ['.data', 'site', 'examples/*/node_modules', 'docs/media'],
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, reportTests: false },
  tempDirName: '.data/stryker',
  // Its own copy of TypeScript would only rewrite paths that leave the project; there are none.
  tsconfigFile: 'none',
};
