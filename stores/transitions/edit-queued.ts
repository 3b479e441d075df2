import { byteLength, formatInt, redis } from './lib/host.js';
import { speakerOf } from './lib/chunks.js';
import { closeLog, openLog } from './lib/log.js';
import { entryJson, noteQueue, readEntry } from './lib/queue.js';
import { joinAskers } from './lib/places.js';
import { contentAt, only, type Content } from './lib/request.js';
import { readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { countStored } from './lib/size.js';

export interface EditQueuedRequest {
  messageId: string;
  /** Hash of the content that the editor has seen. */
  expectedHash: string;
  hash: string;
  row: Content;
  /** Who changes it, as JSON, see lib/places. */
  asker: string;
  now: number;
}

/**
 * edit queued: replaces the content of a queued message.
 *
 * Checks, in this order: the message is queued · it already has the new content (same reply) · it
 * still has the expected content.
 *
 * @returns `edited` · `stale` · `not_queued`
 */
export function editQueued(
  session: Session,
  { messageId, expectedHash, hash, row, asker, now }: EditQueuedRequest,
  args: readonly string[],
): string {
  let at = -1;
  for (const json of redis.call('LRANGE', session.queue, '0', '-1')) {
    at += 1;
    const entry = readEntry(json);
    for (const message of entry.messages) {
      if (message.id !== messageId) continue;
      if (message.hash === hash) return only('edited');
      if (message.hash !== expectedHash) return only('stale');
      message.hash = hash;
      message.row = contentAt(args, row);
      entry.askers = joinAskers(asker, entry.askers);
      const edited = entryJson(entry);
      redis.call('LSET', session.queue, formatInt(at), edited);
      countStored(session, byteLength(edited) - byteLength(json));
      redis.call('HSET', session.messages, messageId, hash);
      const { seq, agent, committed } = readRoot(session, ['seq', 'agent', 'committed']);
      const log = openLog(session, seq);
      noteQueue(session, log, speakerOf(session, agent, committed, now), '');
      closeLog(log);
      return only('edited');
    }
  }
  return only('not_queued');
}
