import { redis } from './lib/host.js';
import { PAGE } from './lib/attempts.js';
import { closeLog, openLog, writeControl } from './lib/log.js';
import { contentAt, MORE, only, type Content } from './lib/request.js';
import { forgetRoot, readRoot } from './lib/root.js';
import { OWN_KEYS, sessionAt, type Session } from './lib/session.js';

export interface EraseRequest {
  /** The stream_end message for attached readers. */
  message: Content;
}

/** Number of sub-agents' sessions that one call removes. */
const CHILDREN = PAGE / OWN_KEYS.length;

/**
 * erase: removes a session with its stream; attached readers get the end. The sessions of its
 * sub-agents are removed afterwards, page by page; what an interrupted request left behind is
 * removed by the next request for this id.
 *
 * @returns `erased` · `not_found` · `more`, send the request again
 */
export function erase(
  session: Session,
  { message }: EraseRequest,
  args: readonly string[],
): string {
  const isThere = redis.call('EXISTS', session.root) === 1;
  if (isThere) eraseOwn(session, contentAt(args, message));
  const parts = redis.call('HKEYS', session.erased);
  const removed: string[] = [];
  for (const part of parts) {
    if (removed.length >= CHILDREN) break;
    removed.push(part);
    const child = sessionAt(session, part);
    for (const name of OWN_KEYS) redis.call('UNLINK', child[name]);
  }
  if (removed.length > 0) redis.call('HDEL', session.erased, ...removed);
  if (removed.length < parts.length) return MORE;
  return only(isThere || removed.length > 0 ? 'erased' : 'not_found');
}

function eraseOwn(session: Session, message: string): void {
  const { seq, run } = readRoot(session, ['seq', 'run']);
  const log = openLog(session, seq);
  writeControl(log, message);
  closeLog(log);
  if (run !== undefined) redis.call('SPUBLISH', session.stop, run);
  keepChildren(session);
  for (const name of OWN_KEYS) redis.call('UNLINK', session[name]);
  redis.call('UNLINK', session.stream, session.results, session.children, session.owners);
  forgetRoot(session);
}

/**
 * Notes the sessions of sub-agents, which are removed afterwards; an earlier request may have left
 * some too.
 */
function keepChildren({ children, erased }: Session): void {
  if (redis.call('EXISTS', children) === 0) return;
  if (redis.call('EXISTS', erased) === 0) {
    redis.call('RENAME', children, erased);
    return;
  }
  for (const part of redis.call('HKEYS', children)) redis.call('HSET', erased, part, '');
}
