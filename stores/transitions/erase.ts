import { redis, toNumber } from './lib/host.js';
import { PAGE } from './lib/attempts.js';
import { closeLog, openLog, writeControl } from './lib/log.js';
import { int } from './lib/json.js';
import { noteAct } from './lib/outbox.js';
import { contentAt, MORE, only, type Content } from './lib/request.js';
import { forgetRoot, num, readRoot } from './lib/root.js';
import { OWN_KEYS, sessionAt, type Session } from './lib/session.js';

export interface EraseRequest {
  /** The stream_end message for attached readers. */
  message: Content;
  /** True: only what an interrupted request left behind is removed. */
  leftovers: boolean;
  /** Present if the erasure is noted until it is complete. */
  noted?: NotedErasure;
}

export interface NotedErasure {
  /** JSON of what is left to do elsewhere, for these: the newest run, the number of its sub-agents, and changes of the files. */
  rest: Content;
  runId: string;
  children: number;
  /** Changes of its files. */
  fileChanges: number;
  /** The entry of the audit trail. */
  act: Content;
}

/** Number of sub-agents' sessions that one call removes. */
const CHILDREN = PAGE / OWN_KEYS.length;

/**
 * erase: removes a session with its stream; attached readers get the end. The sessions of its
 * sub-agents are removed afterwards, page by page; what an interrupted request left behind is
 * removed by the next request for this id.
 *
 * Checks, in this order: the session exists · the newest run, the number of its sub-agents and its
 * files are those that the requester has read.
 *
 * @returns `changed`, if they are not; nothing is removed then · `erased` · `not_found` · `more`, send the request again
 */
export function erase(
  session: Session,
  { message, leftovers, noted }: EraseRequest,
  args: readonly string[],
): string {
  const isThere = !leftovers && redis.call('EXISTS', session.root) === 1;
  if (isThere && noted !== undefined) {
    if (hasChanged(session, noted)) return only('changed');
    note(session, noted, args);
  }
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

function hasChanged(session: Session, noted: NotedErasure): boolean {
  const root = readRoot(session, ['run', 'children']);
  if (root.run !== noted.runId || num(root.children) !== noted.children) return true;
  return fileFigure(session, 'changes') !== noted.fileChanges;
}

function fileFigure(session: Session, name: 'changes' | 'bytes'): number {
  const value = redis.call('HGET', session.files, name);
  return value === false ? 0 : toNumber(value);
}

/** Notes what is left to do elsewhere, and the act, in the transition that does it. */
function note(session: Session, { rest, act }: NotedErasure, args: readonly string[]): void {
  const { run, tenant, bytes, logBytes } = readRoot(session, [
    'run',
    'tenant',
    'bytes',
    'logBytes',
  ]);
  const rows = `"rows":${int(redis.call('LLEN', session.rows))}`;
  const entries = `"entries":${int(redis.call('XLEN', session.stream))}`;
  const size = `"bytes":${int(num(bytes) + num(logBytes) + fileFigure(session, 'bytes'))}`;
  const noted = `${contentAt(args, rest).slice(0, -1)},${rows},${entries},${size}}`;
  redis.call('RPUSH', `${session.conversation.base}gone`, noted);
  noteAct(session, args, act, 'erased', { tenant, runId: run });
}

function eraseOwn(session: Session, message: string): void {
  const { seq, run } = readRoot(session, ['seq', 'run']);
  const log = openLog(session, seq);
  writeControl(log, message);
  closeLog(log);
  if (run !== undefined) redis.call('SPUBLISH', session.stop, run);
  keepChildren(session);
  for (const name of OWN_KEYS) redis.call('UNLINK', session[name]);
  redis.call(
    'UNLINK',
    session.stream,
    session.joined,
    session.results,
    session.children,
    session.owners,
  );
  redis.call('UNLINK', session.files, session.fileBytes);
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
