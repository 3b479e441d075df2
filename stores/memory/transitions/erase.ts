import { writeControl } from '../log.js';
import type { MemorySession, StoreContext } from '../session.js';

/** What readers of a session see last, before it is removed. */
export function erase({ id, log }: MemorySession, { now }: StoreContext): void {
  writeControl(log, { type: 'stream_end', streamId: id, timestamp: now, status: 'aborted' });
}
