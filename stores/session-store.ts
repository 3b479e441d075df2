import type { Calls } from './contract/calls.js';
import type { Documents } from './contract/documents.js';
import type { Due } from './contract/due.js';
import type { HelixStateStore } from './contract/helix-state-store.js';
import type { Queue } from './contract/queue.js';
import type { Runs } from './contract/runs.js';
import type { Sessions } from './contract/sessions.js';
import type { Staging } from './contract/staging.js';
import type { Steps } from './contract/steps.js';
import type { Store } from './contract/store.js';
import type { Waiting } from './contract/waiting.js';

/** The documents of a session, under flat names. */
export interface SessionDocuments extends HelixStateStore {
  promoteSettled: Staging['promoteSettled'];
  readState: Documents['readState'];
}

/** The methods of a store under flat names. */
export interface FlatStore extends SessionDocuments {
  begin: Runs['begin'];
  beginChild: Runs['beginChild'];
  takeCallId: Calls['takeId'];
  readSubAgentCallIds: Calls['readSubAgentIds'];
  beginQueued: Queue['begin'];
  editQueued: Queue['edit'];
  removeQueued: Queue['remove'];
  resumeRun: Runs['resume'];
  rewind: Runs['rewind'];
  branch: Sessions['branch'];
  claim: Steps['claim'];
  discard: Steps['discard'];
  commit: Steps['commit'];
  startCall: Calls['start'];
  settleCall: Calls['settle'];
  extendDeadline: Calls['extendDeadline'];
  leaseCall: Calls['lease'];
  stop: Runs['stop'];
  takeOver: Steps['takeOver'];
  end: Runs['end'];
  readRecord: Sessions['read'];
  readRows: Sessions['rows'];
  readView: Sessions['view'];
  readCalls: Sessions['withCalls'];
  readQueue: Queue['read'];
  readCall: Calls['read'];
  acceptedMessages: Sessions['acceptedMessages'];
  noteActiveSnapshot: Sessions['noteActiveSnapshot'];
  dueSessions: Due['take'];
  noteDue: Due['note'];
  forgetDue: Due['forget'];
  waitingSessions: Waiting['page'];
  noteWaiting: Waiting['note'];
  forgetWaiting: Waiting['forget'];
  leaseSweep: Due['leaseSweep'];
}

/** A store under flat names and by noun. */
export type SessionStore = FlatStore & Store;

/** A store by noun as well. */
export function withNouns(flat: FlatStore): SessionStore {
  return {
    ...flat,
    sessions: {
      read: flat.readRecord,
      rows: flat.readRows,
      view: flat.readView,
      withCalls: flat.readCalls,
      acceptedMessages: flat.acceptedMessages,
      noteActiveSnapshot: flat.noteActiveSnapshot,
      branch: flat.branch,
      erase: flat.delete,
    },
    runs: {
      begin: flat.begin,
      beginChild: flat.beginChild,
      resume: flat.resumeRun,
      rewind: flat.rewind,
      stop: flat.stop,
      end: flat.end,
      current: flat.getCurrentRun,
      list: flat.listRuns,
      interruption: flat.getInterruptRecord,
    },
    steps: {
      claim: flat.claim,
      commit: flat.commit,
      discard: flat.discard,
      takeOver: flat.takeOver,
    },
    calls: {
      start: flat.startCall,
      settle: flat.settleCall,
      extendDeadline: flat.extendDeadline,
      lease: flat.leaseCall,
      read: flat.readCall,
      takeId: flat.takeCallId,
      readSubAgentIds: flat.readSubAgentCallIds,
      pending: flat.getPendingCalls,
      suspension: flat.getSuspensionContext,
    },
    queue: {
      begin: flat.beginQueued,
      edit: flat.editQueued,
      remove: flat.removeQueued,
      read: flat.readQueue,
    },
    documents: {
      load: flat.load,
      save: flat.save,
      readState: flat.readState,
      messages: flat.getMessages,
    },
    checkpoints: {
      get: flat.getCheckpoint,
      latest: flat.getLatestCheckpoint,
      list: flat.listCheckpoints,
    },
    staging: {
      stage: flat.stageChanges,
      promote: flat.promoteStaging,
      promoteSettled: flat.promoteSettled,
      discard: flat.discardStaging,
    },
    waiting: {
      page: flat.waitingSessions,
      note: flat.noteWaiting,
      forget: flat.forgetWaiting,
    },
    due: {
      take: flat.dueSessions,
      note: flat.noteDue,
      forget: flat.forgetDue,
      leaseSweep: flat.leaseSweep,
    },
  };
}
