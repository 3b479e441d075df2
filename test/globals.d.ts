// What a test file finds without importing it.
import type * as Jest from '@jest/globals';

declare global {
  const afterAll: typeof Jest.afterAll;
  const afterEach: typeof Jest.afterEach;
  const beforeAll: typeof Jest.beforeAll;
  const beforeEach: typeof Jest.beforeEach;
  const describe: typeof Jest.describe;
  const expect: typeof Jest.expect;
  const it: typeof Jest.it;
  const test: typeof Jest.test;
  const jest: Pick<
    typeof Jest.jest,
    | 'advanceTimersByTime'
    | 'advanceTimersByTimeAsync'
    | 'fn'
    | 'restoreAllMocks'
    | 'spyOn'
    | 'useFakeTimers'
    | 'useRealTimers'
  >;
  /** For helpers, which are loaded once and used by many files: undone after the tests of the file that runs. */
  function atEndOfFile(undo: () => unknown): void;
  /** For what all files of a process share; where the process ends with the run, it just ends. */
  function atEndOfRun(undo: () => unknown): void;
}
