import type { Store } from '../contract/store.js';

export type HelixStateStore = ReturnType<typeof toHelixStateStore>;

/** The flat method names of the Helix state store; each is a method of one of the store's nouns. */
export function toHelixStateStore(store: Store) {
  const { documents, checkpoints, staging, runs, calls, sessions } = store;
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
