import { clearExpired, readEntry, removeEntry, writeEntry, type Owner } from './lib/owner.js';
import { only, storeNow } from './lib/request.js';

export interface ReleaseRequest {
  sessionId: string;
  /** Bytes that were reserved and are not stored. */
  bytes: number;
}

/**
 * release: takes bytes off the reservation of a session that does not exist, for a file that was
 * refused or removed before the first message. The last bytes end the reservation. A session that
 * exists is folded instead.
 *
 * @returns `released` · `unknown`, nothing is reserved for it
 */
export function release(owner: Owner, { sessionId, bytes }: ReleaseRequest): string {
  clearExpired(owner, storeNow());
  const entry = readEntry(owner, sessionId);
  if (entry === undefined) return only('unknown');
  if (entry.created !== 0) return only('unknown');
  const heldBytes = Math.max(0, entry.heldBytes - bytes);
  if (heldBytes === 0 && entry.heldRuns === 0 && entry.heldQueued === 0) {
    removeEntry(owner, sessionId);
  } else {
    entry.heldBytes = heldBytes;
    writeEntry(owner, sessionId, entry);
  }
  return only('released');
}
