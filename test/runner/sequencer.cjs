const { readFileSync, statSync } = require('node:fs');

/**
 * Folders of `test/` whose files wait for processes, longest first. All other files are in one group, in which those
 * that wait for Temporal run beside those that compute.
 */
const LONG = [
  'clients/',
  'states/',
  'store/conformance/',
  'e2e/take-over',
  'e2e/kill-',
  'e2e/',
  'ops/',
  'page/',
];

/**
 * Orders files so that no process is left alone with a long one at the end. Those with a fake clock come first: a
 * process keeps products for all its files, whose timers such a clock would lose.
 */
module.exports = class LongestFirst {
  sort(tests) {
    const ranked = tests.map((test) => {
      const file = test.path.slice(`${test.context.config.rootDir}/test/`.length);
      const isFaked = readFileSync(test.path, 'utf8').includes('useFakeTimers');
      const found = LONG.findIndex((folder) => file.startsWith(folder));
      const rank = found < 0 ? LONG.length : found;
      return { test, rank: isFaked ? -1 : rank, size: statSync(test.path).size };
    });
    ranked.sort((a, b) => a.rank - b.rank || b.size - a.size);
    return ranked.map(({ test }) => test);
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
};
