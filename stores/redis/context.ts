import type { FileStore } from '../contract/files.js';
import type { LeaseThread } from '../contract/leases.js';
import type { Evaluate } from '../../store/redis/scripts.js';
import type { WriteIf } from '../../store/redis/write-if.js';
import type { Commands } from './commands.js';
import type { Conversations } from './conversations.js';
import type { KeySpace } from './keys.js';

/** Settings of the audit trail. */
export interface AuditSettings {
  /** Keys of signatures: the first signs, each verifies. Without one entries are not signed. */
  keys: readonly string[];
  /** How long entries of a tenant are kept, ms; 0: no limit. `''`: of those who have none. */
  keptMs: (tenant: string) => number;
}

/** What all parts of the store share that work on one Redis, or on one in-process keyspace. */
export interface RedisContext extends Conversations {
  /** What tells this data from other data, see `joinParts`. */
  data: unknown;
  redis: Commands;
  /** For what may be large: apart from the one above, where the start of a run would wait behind it. */
  reads: Commands;
  keys: KeySpace;
  /** Runs scripts of the store. */
  evaluate: Evaluate;
  /** Changes of what is in other slots than conversations. */
  writeIf: WriteIf;
  /** Clock of this process, ms since the epoch; deadlines use the clock of the store. */
  now: () => number;
  /** How another thread opens the leases; absent if it cannot. */
  leaseThread?: LeaseThread;
  audit: AuditSettings;
  /** Where the bytes of files are. */
  fileStore: FileStore;
  /** It is outside this store, which cannot expire what it holds. */
  keepsFilesElsewhere: boolean;
  /** Sends everything written in the current turn of the event loop together. */
  corkWrites: () => void;
}
