import { relative } from 'node:path';
import { projectRoot } from '../../scripts/system/project.mjs';

const MAX_COSTLY = 20;

const write = (text) => process.stdout.write(`${text}\n`);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Prints each test file as it ends, or each test of a single file, then the slowest files and a line of counts. */
export default class Reporter {
  #files = [];
  #error;
  #isComplete = false;
  #isOneFile = false;

  constructor() {
    // Tested code may end the process; a run without its counts has failed.
    process.once('exit', () => {
      if (!this.#isComplete) process.exitCode = 1;
    });
  }

  onRunStart({ numTotalTestSuites }) {
    this.#isOneFile = numTotalTestSuites === 1;
  }

  /** Shows the progress of a single file, which may take half an hour. */
  onTestCaseResult(_, { status, fullName, duration }) {
    if (this.#isOneFile) write(`${status} ${fullName}, ${seconds(duration ?? 0)}`);
  }

  onTestResult(test, { testResults, failureMessage, perfStats }, { numTotalTestSuites }) {
    const path = relative(projectRoot, test.path);
    const wall = perfStats.end - perfStats.start;
    const inTests = testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
    this.#files.push({ path, wall, inTests });
    const verdict = failureMessage ? 'FAIL' : 'pass';
    const count = `${this.#files.length}/${numTotalTestSuites}`;
    write(`${verdict} ${count} ${path}, ${testResults.length} tests, ${seconds(wall)}`);
    if (failureMessage) write(failureMessage);
  }

  onRunComplete(_, results) {
    this.#isComplete = true;
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = results;
    if (this.#files.length > 1)
      write('\nFiles that took longest, and the time inside their tests:');
    const costly = this.#files.length > 1 ? this.#files.toSorted((a, b) => b.wall - a.wall) : [];
    for (const { path, wall, inTests } of costly.slice(0, MAX_COSTLY)) {
      write(`${seconds(wall).padStart(9)} ${seconds(inTests).padStart(9)}  ${path}`);
    }
    // A file that cannot be loaded, or breaks after its tests, fails without a failed test.
    const failed = numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = numPendingTests + numTodoTests;
    const counts = `${numPassedTests} passed, ${failed} failed`;
    write(skipped > 0 ? `${counts}, ${skipped} skipped` : counts);
    if (numPassedTests === 0) this.#error = new Error('No test passed.');
    if (failed > 0 || this.#error) process.exitCode = 1;
  }

  getLastError() {
    return this.#error;
  }
}
