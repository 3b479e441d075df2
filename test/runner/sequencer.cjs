const { default: Sequencer } = require('@jest/test-sequencer');

/** Of files below `test/`: those that wait for processes, longest first. All others take moments. */
const LONG = [
  'clients/',
  'states/',
  'e2e/take-over',
  'e2e/kill-',
  'e2e/',
  'page/',
  'executor/',
  'workflows/',
  'ai-sdk/',
];

/** The order where no earlier run has left times: none of the processes is left alone with a long file at the end. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path, context }) => {
      const file = path.slice(`${context.config.rootDir}/test/`.length);
      const found = LONG.findIndex((folder) => file.startsWith(folder));
      return found < 0 ? LONG.length : found;
    };
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration != null)) return sorted;
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
};
