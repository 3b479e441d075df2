/**
 * The contract of the stores as tests: certifies any pair of Store and StreamManager under jest,
 * vitest or node:test. Its property tests need fast-check (an optional peer).
 */
import { badInputCases } from './bad-input.js';
import { auditCases } from './documents/audit.js';
import { checkpointCases } from './documents/checkpoints.js';
import { deletionCases } from './documents/deletion.js';
import { dueSessionCases } from './documents/due-sessions.js';
import { fileCases } from './documents/files.js';
import { ownerConversationCases } from './documents/owner-conversations.js';
import { ownerAdmissionCases } from './documents/owner-admissions.js';
import { ownerUsageCases } from './documents/owner-usage.js';
import { usageCases } from './documents/usage.js';
import { workerLeaseCases } from './documents/leases.js';
import { waitingSessionCases } from './documents/waiting-sessions.js';
import { pauseCases } from './documents/pauses.js';
import { requestCases } from './documents/requests.js';
import { pendingCallCases } from './documents/pending-calls.js';
import { runCases } from './documents/runs.js';
import { concurrentChangeCases } from './documents/concurrent-changes.js';
import { settledChangeCases } from './documents/settled-changes.js';
import { stagingCases } from './documents/staging.js';
import { stateCases } from './documents/state.js';
import { streamProperties } from './properties/streams.js';
import { appendCases } from './session/append.js';
import { atOnceCases } from './session/at-once.js';
import { beginCases } from './session/begin.js';
import { claimCases } from './session/claim.js';
import { valueCases } from './session/values.js';
import { expiryCases } from './session/expiry.js';
import { largeSessionCases } from './session/large-sessions.js';
import { keptPageCases } from './session/kept-pages.js';
import { oddCallIdCases } from './session/odd-call-ids.js';
import { oddNameCases } from './session/odd-names.js';
import { branchCases } from './session/branch.js';
import { queueCases } from './session/queue.js';
import { rewindCases } from './session/rewind.js';
import { callEventCases } from './session/call-events.js';
import { readAlongCases } from './session/read-along.js';
import { subAgentCases } from './session/sub-agents.js';
import { appendsAtOnceCases } from './stream/appends-at-once.js';
import { deltaCases } from './stream/deltas.js';
import { readerCases } from './stream/readers.js';
import { resumableReaderCases } from './stream/resumable-readers.js';
import { streamInfoCases } from './stream/stream-info.js';
import { truncationCases } from './stream/truncation.js';
import { writerCases } from './stream/writers.js';
import { createSuite, type ConformanceOptions } from './suite.js';

export type { ConformanceOptions, StoresUnderTest } from './suite.js';

const SESSION = [
  beginCases,
  rewindCases,
  branchCases,
  queueCases,
  claimCases,
  atOnceCases,
  appendCases,
  readAlongCases,
  callEventCases,
  expiryCases,
  keptPageCases,
  valueCases,
  oddCallIdCases,
  oddNameCases,
  subAgentCases,
  largeSessionCases,
];

const STREAM = [
  writerCases,
  appendsAtOnceCases,
  deltaCases,
  readerCases,
  resumableReaderCases,
  truncationCases,
  streamInfoCases,
];

const DOCUMENTS = [
  stateCases,
  runCases,
  checkpointCases,
  stagingCases,
  settledChangeCases,
  concurrentChangeCases,
  pendingCallCases,
  deletionCases,
  dueSessionCases,
  waitingSessionCases,
  ownerConversationCases,
  ownerUsageCases,
  usageCases,
  ownerAdmissionCases,
  workerLeaseCases,
  auditCases,
  pauseCases,
  requestCases,
  fileCases,
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
  for (const cases of [...SESSION, ...STREAM, ...DOCUMENTS, badInputCases, streamProperties])
    cases(suite);
}
