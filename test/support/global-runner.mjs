import circus from 'jest-circus/runner';

/** Epoch ms after which no test file begins; unset: all do. */
const { TESTS_BEGIN_UNTIL: deadline } = process.env;

/**
 * The runner of a test file. Past the deadline it loads the file and skips its tests, so that they are
 * counted as skipped and not as passed.
 */
export default function globalRunner(globalConfig, ...rest) {
  const isOver = deadline !== undefined && Date.now() > Number(deadline);
  const config = isOver ? { ...globalConfig, testNamePattern: '(?!)' } : globalConfig;
  return circus.default(config, ...rest);
}
