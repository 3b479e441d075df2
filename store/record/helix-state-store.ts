import type { Calls } from '../contract/calls.js';
import type { Checkpoints } from '../contract/checkpoints.js';
import type { Documents } from '../contract/documents.js';
import type { Runs } from '../contract/runs.js';
import type { Sessions } from '../contract/sessions.js';
import type { Staging } from '../contract/staging.js';
import type { Store } from '../contract/store.js';

/** The flat method names of the Helix state store; each is a method of one of the store's nouns. */
export interface HelixStateStore {
  load: Documents['load'];
  save: Documents['save'];
  getMessages: Documents['messages'];
  getCurrentRun: Runs['current'];
  listRuns: Runs['list'];
  getInterruptRecord: Runs['interruption'];
  getCheckpoint: Checkpoints['get'];
  getLatestCheckpoint: Checkpoints['latest'];
  listCheckpoints: Checkpoints['list'];
  stageChanges: Staging['stage'];
  promoteStaging: Staging['promote'];
  discardStaging: Staging['discard'];
  getPendingCalls: Calls['pending'];
  getSuspensionContext: Calls['suspension'];
  delete: Sessions['erase'];
}

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
