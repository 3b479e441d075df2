// `npm test` runs the first lane, `npm run test:long` the other one. A file is in the long lane for what it
// costs, never for what it is worth: both lanes have to pass before a change goes in.

/** Parts of the paths of the long lane, each with the promise that the time buys. */
export const LONG = [
  // P1: every version of the AI SDK's client that is supported, each scenario in all of them.
  'test/clients/',
  // P1: every moment at which a page can load, for each recorded turn and client version.
  '/reload-everywhere-',
  // P1: rows replay as the log does, for random conversations.
  '/rows-equal-log',
  // P3, P4: every order of events that two runs can have, to the depth that fits into minutes.
  'test/states/model/explore',
  // P1, P3: real processes are killed at every await, and wait for time-outs of real engines.
  'test/e2e/kill-',
  'test/e2e/crash-loops',
  'test/e2e/tool-waits',
  'test/e2e/webhooks',
  'test/executor/lost-release',
  // P1, P3: the same crashes, of runs whose steps and calls one activity carries out.
  'test/e2e/legs/',
  'test/e2e/cut-off-worker',
  'test/e2e/lease-',
  'test/executor/rolling-deploy',
  // P2: a lost wake-up among 100,000 waiting conversations, which take a gigabyte.
  'test/executor/waiting-crowd',
  // P2: thousands of calls of one step, and hundreds of conversations that one command answers.
  'test/workflows/many-calls',
  'test/e2e/batches',
  // P3: every path of the workflow is played, and replayed; the histories that are kept are in the first lane.
  'test/workflows/recording',
  // P3: an attempt that no worker has is found by looks that are seconds apart.
  'test/executor/unseen-attempts',
  // A thousand workflows, for the time in which they are listed.
  'test/e2e/command-line-many',
  // The page in a real browser.
  'test/page/',
  // Other front ends: pages of other frameworks in a real browser.
  'test/fronts/',
  // 220 conversations, and the series of their workers.
  'test/e2e/metrics',
  // Prometheus, which is unpacked once per machine.
  'test/ops/alerts',
  // `npm start`, the soak and the rehearsal as people run them.
  'test/scripts/soak',
  'test/scripts/rehearse',
  'test/e2e/startup',
];

/** What jest is given to run one lane only. */
export function jestPatternsOf(lane) {
  if (lane === 'long') return [`--testPathPatterns=${LONG.join('|')}`];
  return LONG.map((path) => `--testPathIgnorePatterns=${path}`);
}
