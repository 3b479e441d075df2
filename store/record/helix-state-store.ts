import type { Store } from '../contract/store.js';

/** The flat method names of the Helix state store; each is a method of one of the store's nouns. */
export type HelixStateStore = ReturnType<typeof toHelixStateStore>;

/** A store under the method names of the Helix state store. */
export function toHelixStateStore({
  documents,
  checkpoints,
  staging,
  runs,
  calls,
  sessions,
}: Store) {
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
