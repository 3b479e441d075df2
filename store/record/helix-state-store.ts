import type { Store } from '../contract/store.js';

/** The flat method names of the Helix state store; each is a method of one of the store's nouns. */
export interface HelixStateStore {
  load: Store['documents']['load'];
  save: Store['documents']['save'];
  getMessages: Store['documents']['messages'];
  getCurrentRun: Store['runs']['current'];
  listRuns: Store['runs']['list'];
  getInterruptRecord: Store['runs']['interruption'];
  getCheckpoint: Store['checkpoints']['get'];
  getLatestCheckpoint: Store['checkpoints']['latest'];
  listCheckpoints: Store['checkpoints']['list'];
  stageChanges: Store['staging']['stage'];
  promoteStaging: Store['staging']['promote'];
  discardStaging: Store['staging']['discard'];
  getPendingCalls: Store['calls']['pending'];
  getSuspensionContext: Store['calls']['suspension'];
  delete: Store['sessions']['erase'];
}

/** Adapts a store to the method names of the Helix state store. */
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
