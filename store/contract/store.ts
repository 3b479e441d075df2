import type { Listener } from '../change.js';
import type { Audit } from './audit.js';
import type { Calls } from './calls.js';
import type { Checkpoints, Documents, Staging } from './documents.js';
import type { Due } from './due.js';
import type { Erasures } from './erasures.js';
import type { Files } from './files.js';
import type { Leases } from './leases.js';
import type { Owners } from './owners.js';
import type { Pauses } from './pauses.js';
import type { Queue } from './queue.js';
import type { Requests } from './requests.js';
import type { Runs } from './runs.js';
import type { Sessions } from './sessions.js';
import type { Steps } from './steps.js';
import type { Usage } from './usage.js';
import type { Waiting } from './waiting.js';

/** The changes of sessions, by noun. */
export interface Changes {
  sessions: Pick<Sessions, 'branch'>;
  runs: Omit<Runs, 'next' | 'current' | 'read' | 'list' | 'interruption'>;
  steps: Steps;
  calls: Omit<Calls, 'read' | 'pending' | 'suspension'>;
  queue: Omit<Queue, 'read'>;
}

/**
 * The record of sessions, grouped by noun. Every change is one atomic step and checks in this order: already done
 * (returns the first result), stop record, fence, expected state. It may be repeated: a client that lost its connection
 * after sending gets the first result again.
 */
export interface Store {
  /** The same changes, with a listener for their events. */
  listening: (listener: Listener) => Changes;
  sessions: Sessions;
  runs: Runs;
  steps: Steps;
  calls: Calls;
  queue: Queue;
  documents: Documents;
  checkpoints: Checkpoints;
  staging: Staging;
  waiting: Waiting;
  due: Due;
  owners: Owners;
  audit: Audit;
  erasures: Erasures;
  usage: Usage;
  pauses: Pauses;
  requests: Requests;
  files: Files;
  /** Without leases, only the heartbeat time-out of Temporal reveals a dead worker. */
  leases?: Leases;
}
