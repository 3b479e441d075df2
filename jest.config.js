/** @type {import('jest').Config} */
export default {
  testMatch: ['<rootDir>/test/**/*.test.{ts,tsx,mjs}'],
  // Node loads the tests and what they test, and compiles TypeScript as it loads.
  transform: {},
  runtime: '<rootDir>/test/runner/runtime.cjs',
  testEnvironment: '<rootDir>/test/runner/environment.cjs',
  setupFilesAfterEnv: ['<rootDir>/test/runner/set-up.mjs'],
  testSequencer: '<rootDir>/test/runner/sequencer.cjs',
  reporters: ['<rootDir>/test/runner/reporter.mjs'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  // One real Redis and one real Temporal for the whole run.
  globalSetup: '<rootDir>/test/runner/global-setup.mjs',
  globalTeardown: '<rootDir>/test/runner/global-teardown.mjs',
  // Ends a test that hangs; on a busy machine one that starts processes takes minutes.
  testTimeout: 300_000,
  // Tests wait for servers much of the time: one more than two cores.
  maxWorkers: 3,
  // A worker keeps what its test files loaded; a large one is replaced between two files.
  workerIdleMemoryLimit: '1500MB',
  // A process ends by itself, which takes a large one half a second on a busy machine.
  workerGracefulExitTimeout: 10_000,
};
