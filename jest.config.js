/** The same as in the build, so that what is tested is what runs. */
function swcOptions({ tsx }) {
  return {
    swcrc: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx },
      transform: { react: { runtime: 'automatic' }, verbatimModuleSyntax: true },
    },
  };
}

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.{ts,tsx,mjs}'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '\\.ts$': ['@swc/jest', swcOptions({ tsx: false })],
    '\\.tsx$': ['@swc/jest', swcOptions({ tsx: true })],
  },
  moduleNameMapper: {
    // Sources import each other by the names of the compiled files.
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Examples import the package by its name.
    '^helix-temporal/ai-sdk$': '<rootDir>/ai-sdk/index.ts',
    '^helix-temporal/runtime-js$': '<rootDir>/in-process/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  // One real Redis and one real Temporal for the whole run.
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testTimeout: 120_000,
  testRunner: '<rootDir>/test/support/global-runner.mjs',
  // Tests wait for servers much of the time: one more than two cores.
  maxWorkers: 3,
  // A worker keeps what each test file loaded, and grew to 4 GB: it is replaced between two files.
  workerIdleMemoryLimit: '1GB',
};
