import { byteLength, formatInt, redis } from './lib/host.js';
import { speakerOf } from './lib/chunks.js';
import { armExpiry } from './lib/expiry.js';
import { texts } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { noteQueue, readEntry } from './lib/queue.js';
import { isTerminal, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { countStored } from './lib/size.js';

export interface RemoveQueuedRequest {
  /** Any message of the entry; absent: all entries. */
  messageId?: string;
  now: number;
}

/**
 * remove queued: removes waiting messages from the queue; their ids count as never accepted.
 *
 * @returns `removed` with the number of entries
 */
export function removeQueued(session: Session, { messageId, now }: RemoveQueuedRequest): string {
  let entries = 0;
  const removed: string[] = [];
  for (const json of redis.call('LRANGE', session.queue, '0', '-1')) {
    const ids: string[] = [];
    let isMeant = messageId === undefined;
    for (const { id } of readEntry(json).messages) {
      ids.push(id);
      if (id === messageId) isMeant = true;
    }
    if (!isMeant) continue;
    entries += 1;
    redis.call('LREM', session.queue, '1', json);
    countStored(session, -byteLength(json));
    redis.call('HDEL', session.messages, ...ids);
    for (const id of ids) removed.push(id);
  }
  if (entries === 0) return '{"kind":"removed","count":0}';
  const root = readRoot(session, ['seq', 'agent', 'committed', 'status']);
  const log = openLog(session, root.seq);
  noteQueue(session, log, speakerOf(session, root.agent, root.committed, now), texts(removed));
  closeLog(log);
  // An ended session did not expire while messages waited.
  if (isTerminal(root.status) && redis.call('LLEN', session.queue) === 0) armExpiry(session, true);
  return `{"kind":"removed","count":${formatInt(entries)}}`;
}
