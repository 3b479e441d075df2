import { cjson, formatInt, redis, toNumber } from './host.js';
import type { Checkpoint } from './end-of-step.js';
import type { Session } from './session.js';

/** The checkpoint at an index (0-based). */
export function checkpointAt(session: Session, index: number): Checkpoint | undefined {
  if (index < 0) return undefined;
  const json = redis.call('LINDEX', session.checkpoints, formatInt(index));
  return json === false ? undefined : (cjson.decode(json) as Checkpoint);
}

/** Number of checkpoints that were made while the transcript had at most this many rows. */
export function countCheckpoints(session: Session, rows: number): number {
  let [low, high] = [0, redis.call('LLEN', session.checkpoints)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { messageCount } = checkpointAt(session, middle) as Checkpoint;
    if (messageCount <= rows) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of a checkpoint; -1 if the session does not have it. */
export function indexOfCheckpoint(session: Session, id: string): number {
  const index = redis.call('HGET', session.places, `c:${id}`);
  if (index === false || checkpointAt(session, toNumber(index))?.id !== id) return -1;
  return toNumber(index);
}
