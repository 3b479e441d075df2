import type { HelixStateStore } from '../contract/helix-state-store.js';
import type { Store } from '../contract/store.js';

/** A store under the method names of the Helix state store. */
export function toHelixStateStore({
  documents,
  checkpoints,
  staging,
  runs,
  calls,
  sessions,
}: Store): HelixStateStore {
  return {
    load: documents.load,
    save: documents.save,
    getMessages: documents.messages,
    getCurrentRun: runs.current,
    listRuns: runs.list,
    getInterruptRecord: runs.interruption,
    getCheckpoint: checkpoints.get,
    getLatestCheckpoint: checkpoints.latest,
    listCheckpoints: checkpoints.list,
    stageChanges: staging.stage,
    promoteStaging: staging.promote,
    discardStaging: staging.discard,
    getPendingCalls: calls.pending,
    getSuspensionContext: calls.suspension,
    delete: sessions.erase,
  };
}
