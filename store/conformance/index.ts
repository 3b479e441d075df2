/**
 * Tests a Store and StreamManager under jest, vitest or node:test: storage, order, concurrency, expiry
 * and indexes. The property tests need fast-check (an optional peer).
 */
import { badInputCases } from './bad-input.js';
import { auditCases } from './documents/audit.js';
import { fileCases } from './documents/files.js';
import { fleetCases } from './documents/fleet.js';
import { ownerCases } from './documents/owners.js';
import { sessionCases } from './documents/sessions.js';
import { stateAndChangeCases } from './documents/state.js';
import { usageCases } from './documents/usage.js';
import { waitingSessionCases } from './documents/waiting-sessions.js';
import { streamProperties } from './properties/streams.js';
import { atOnceCases } from './session/at-once.js';
import { branchCases } from './session/branch.js';
import { keptPageCases } from './session/kept-pages.js';
import { largeSessionCases } from './session/large-sessions.js';
import { oddNamesCases } from './session/odd-names.js';
import { readAlongCases } from './session/read-along.js';
import { runCases } from './session/runs.js';
import { subAgentCases } from './session/sub-agents.js';
import { valueCases } from './session/values.js';
import { streamReaderCases } from './stream/readers.js';
import { streamWriterCases } from './stream/writers.js';
import { createSuite, type ConformanceOptions } from './suite.js';

export type { ConformanceOptions, StoresUnderTest } from './suite.js';

const CASES = [
  runCases,
  branchCases,
  atOnceCases,
  readAlongCases,
  keptPageCases,
  valueCases,
  oddNamesCases,
  subAgentCases,
  largeSessionCases,
  streamWriterCases,
  streamReaderCases,
  stateAndChangeCases,
  sessionCases,
  fleetCases,
  waitingSessionCases,
  ownerCases,
  usageCases,
  auditCases,
  fileCases,
  badInputCases,
  streamProperties,
];

/**
 * Registers the cases with a test framework.
 *
 * @example
 * import { describe, it } from 'node:test';
 * import { storeConformance } from 'helix-temporal/store-conformance';
 * import { createMemoryStores } from 'helix-temporal/store-memory';
 *
 * storeConformance({
 *   open: async () => ({ ...createMemoryStores(), close: async () => {} }),
 *   describe: (name, body) => void describe(name, body),
 *   it: (name, body) => void it(name, body),
 * });
 */
export function storeConformance(options: ConformanceOptions): void {
  const suite = createSuite(options);
  for (const cases of CASES) cases(suite);
}
