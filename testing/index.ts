/** Tests agents without engines or on a server of Temporal's test kit. */
export { createTestRuntime } from './create-test-runtime.js';
export type { TestRuntime, TestRuntimeOptions } from './create-test-runtime.js';
export { createScriptedModel } from '../agents/index.js';
export type { ScriptStep } from '../agents/index.js';
export { evaluateCase, parseCase, CaseError } from './eval/index.js';
export type { CaseReport, EvalCase, EvaluateOptions, LaneReport } from './eval/index.js';
export type { Expected } from './matches.js';
export type { TemporalEnvironment } from './temporal/run-on-temporal.js';
export type { SeenCall } from './seen-calls.js';
export type { ExpectedCall, TestRun } from './test-run.js';
export type { TestModels } from './with-models.js';
