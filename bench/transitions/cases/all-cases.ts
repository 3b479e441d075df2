import { callCases } from './call-cases.js';
import type { Case } from './case.js';
import { beginCases, endCases, rerunCases } from './run-cases.js';
import { documentCases, queueCases, sessionCases, streamCases } from './session-cases.js';
import { stepCases } from './step-cases.js';

/** In the order of the tables: about that of a run. */
export const ALL_CASES: readonly Case[] = [
  ...beginCases,
  ...stepCases,
  ...callCases,
  ...endCases,
  ...rerunCases,
  ...queueCases,
  ...documentCases,
  ...sessionCases,
  ...streamCases,
];
