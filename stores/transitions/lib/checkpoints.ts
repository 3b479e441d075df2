import { cjson, formatInt, redis, toNumber } from './host.js';
import { PAGE } from './attempts.js';
import type { Checkpoint } from './end-of-step.js';
import { text } from './json.js';
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
  if (index !== false && checkpointAt(session, toNumber(index))?.id === id) return toNumber(index);
  return searchCheckpoint(session, id);
}

/** For checkpoints made before indexes were noted; searches from the newest. */
function searchCheckpoint(session: Session, id: string): number {
  const mark = `"id":${text(id)}`;
  let end = redis.call('LLEN', session.checkpoints) - 1;
  while (end >= 0) {
    const start = Math.max(0, end - PAGE + 1);
    const page = redis.call('LRANGE', session.checkpoints, formatInt(start), formatInt(end));
    for (let at = page.length - 1; at >= 0; at -= 1) {
      const json = page[at] as string;
      if (json.includes(mark) && (cjson.decode(json) as Checkpoint).id === id) return start + at;
    }
    end = start - 1;
  }
  return -1;
}
