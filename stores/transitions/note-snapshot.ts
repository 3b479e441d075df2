import { redis } from './lib/host.js';
import { only } from './lib/request.js';
import type { Session } from './lib/session.js';

export interface NoteSnapshotRequest {
  turn: number;
  now: number;
}

/**
 * note snapshot: remembers that a snapshot of this turn was handed out while the turn was active. Not
 * a change of the run: a hint for the GET that follows.
 */
export function noteSnapshot(session: Session, { turn, now }: NoteSnapshotRequest): string {
  if (redis.call('EXISTS', session.root) === 0) return only('not_found');
  redis.call('HSET', session.root, 'snapTurn', turn, 'snapAt', now);
  return only('noted');
}
