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
import { batchRecordCases } from './documents/batches.js';
import { pauseCases } from './documents/pauses.js';
import { requestCases } from './documents/requests.js';
import { pendingCallCases } from './documents/pending-calls.js';
import { runCases } from './documents/runs.js';
import { concurrentChangeCases } from './documents/concurrent-changes.js';
import { settledChangeCases } from './documents/settled-changes.js';
import { stagingCases } from './documents/staging.js';
import { stateCases } from './documents/state.js';
import { hostileProperties } from './properties/hostile.js';
import { sessionProperties } from './properties/sessions.js';
import { streamProperties } from './properties/streams.js';
import { abandonmentCases } from './session/abandonment.js';
import { appendCases } from './session/append.js';
import { askerCases } from './session/askers.js';
import { attemptCases } from './session/attempts.js';
import { beginCases } from './session/begin.js';
import { beginLaterCases } from './session/begin-later.js';
import { checkOrderCases } from './session/check-order.js';
import { claimCases } from './session/claim.js';
import { commitCases } from './session/commit.js';
import { compactCases } from './session/compact.js';
import { resultCases } from './session/results.js';
import { pinToolsCases } from './session/pin-tools.js';
import { takeOverCases } from './session/take-over.js';
import { depthCases } from './session/depth.js';
import { discardCases } from './session/discard.js';
import { exactValueCases } from './session/exact-values.js';
import { endCases } from './session/end.js';
import { expiryCases } from './session/expiry.js';
import { halfCharacterCases } from './session/half-characters.js';
import { largeSessionCases } from './session/large-sessions.js';
import { keptPageCases } from './session/kept-pages.js';
import { leaseCases } from './session/lease-call.js';
import { journalCases } from './session/journal.js';
import { waitsAloneCases } from './session/waits-alone.js';
import { legCases } from './session/legs.js';
import { oddCallIdCases } from './session/odd-call-ids.js';
import { oddNameCases } from './session/odd-names.js';
import { branchCases } from './session/branch.js';
import { queueCases } from './session/queue.js';
import { resumeRunCases } from './session/resume-run.js';
import { rewindEditCases } from './session/rewind-edits.js';
import { rewindCases } from './session/rewind.js';
import { settleApprovalCases } from './session/settle-approval.js';
import { settleClientCases } from './session/settle-client.js';
import { settleToolCases } from './session/settle-tool.js';
import { callEventCases } from './session/call-events.js';
import { readAlongCases } from './session/read-along.js';
import { startCallCases } from './session/start-call.js';
import { steerCases } from './session/steer.js';
import { stopCases } from './session/stop.js';
import { subAgentAnswerCases } from './session/sub-agent-answers.js';
import { subAgentEndCases } from './session/sub-agent-ends.js';
import { subAgentCases } from './session/sub-agents.js';
import { appendsAtOnceCases } from './stream/appends-at-once.js';
import { batchCases } from './stream/batches.js';
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
  beginLaterCases,
  resumeRunCases,
  compactCases,
  rewindCases,
  rewindEditCases,
  branchCases,
  abandonmentCases,
  queueCases,
  steerCases,
  claimCases,
  askerCases,
  attemptCases,
  checkOrderCases,
  appendCases,
  commitCases,
  resultCases,
  pinToolsCases,
  takeOverCases,
  readAlongCases,
  startCallCases,
  callEventCases,
  settleToolCases,
  settleApprovalCases,
  settleClientCases,
  expiryCases,
  keptPageCases,
  leaseCases,
  journalCases,
  waitsAloneCases,
  legCases,
  halfCharacterCases,
  depthCases,
  exactValueCases,
  oddCallIdCases,
  oddNameCases,
  stopCases,
  endCases,
  discardCases,
  subAgentCases,
  subAgentAnswerCases,
  subAgentEndCases,
  largeSessionCases,
];

const STREAM = [
  writerCases,
  appendsAtOnceCases,
  batchCases,
  deltaCases,
  readerCases,
  resumableReaderCases,
  truncationCases,
  streamInfoCases,
];

const PROPERTIES = [streamProperties, sessionProperties, hostileProperties];

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
  batchRecordCases,
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
  for (const cases of [...SESSION, ...STREAM, ...DOCUMENTS, badInputCases, ...PROPERTIES])
    cases(suite);
}

/** Inputs and results of a store's transitions. */
export type { NewCall, Wake } from '../contract/call-record.js';
export type {
  ExtendDeadlineInput,
  ExtendDeadlineResult,
  SettleCallInput,
  SettleCallResult,
  StartCallInput,
  StartCallResult,
} from '../contract/calls.js';
export type { Writer } from '../contract/log.js';
export type {
  BeginQueuedInput,
  BeginQueuedResult,
  EditQueuedInput,
  EditQueuedResult,
  RemoveQueuedInput,
  RemoveQueuedResult,
} from '../contract/queue.js';
export type {
  BeginChildInput,
  BeginChildResult,
  BeginInput,
  BeginResult,
  EndInput,
  EndResult,
  ResumeRunInput,
  ResumeRunResult,
  RewindInput,
  RewindResult,
  RunRecord,
  StopResult,
} from '../contract/runs.js';
export type { BranchInput, BranchResult } from '../contract/sessions.js';
export type {
  ClaimInput,
  ClaimResult,
  CommitInput,
  CommitResult,
  DiscardInput,
  DiscardResult,
  TakeOverInput,
  TakeOverResult,
} from '../contract/steps.js';
export type { WaitingPageOptions } from '../contract/waiting.js';
