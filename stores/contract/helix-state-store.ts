import type { Calls } from './calls.js';
import type { Checkpoints } from './checkpoints.js';
import type { Documents } from './documents.js';
import type { Runs } from './runs.js';
import type { Sessions } from './sessions.js';
import type { Staging } from './staging.js';

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
