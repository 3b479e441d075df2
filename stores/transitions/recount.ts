import { redis } from './lib/host.js';
import { only } from './lib/request.js';
import { readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface RecountRequest {
  /** Size of what was found stored. */
  found: number;
  /** `bytes` when the search began. */
  counted: number;
}

/**
 * recount: corrects what a session is known to store: of one from before that was counted, or of which
 * many rows were dropped. What was stored since the search began stays counted.
 */
export function recount(session: Session, { found, counted }: RecountRequest): string {
  if (readRoot(session, ['agent']).agent === undefined) return only('not_found');
  redis.call('HINCRBY', session.root, 'bytes', found - counted);
  redis.call('HSET', session.root, 'counted', '1');
  return only('recounted');
}
