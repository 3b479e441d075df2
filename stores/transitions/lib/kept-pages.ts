import { redis } from './host.js';
import type { Session } from './session.js';

/**
 * Pages of the log in the form that a replay sends, kept beside the entries while their step is being
 * written: `joined` is a stream whose ids are those of the pages' last entries. They hold nothing that
 * the log does not have. Entries may be withdrawn between two reads, so readers take a page only if the log
 * still has its first and last entries.
 */
export function dropPages(session: Session): void {
  redis.call('UNLINK', session.joined);
}
