export { CaseError, parseCase } from './case.js';
export type { EvalCase, RecordedCall, RecordedTurn } from './case.js';
export { DIFFERENCES } from './compare.js';
export type { Difference, FoundDifference } from './compare.js';
export { evaluateCase, FAIL_ON } from './evaluate.js';
export type { CaseReport, EvaluateOptions, LaneReport } from './evaluate.js';
export { toCase } from './to-case.js';
export type { RecordedMessage, Recording } from './to-case.js';
export { toJUnit } from './to-junit.js';
