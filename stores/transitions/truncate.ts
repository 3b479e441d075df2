import { byteLength, formatInt, redis } from './lib/host.js';
import { PAGE } from './lib/attempts.js';
import { jsonOf, placeOf, type Place } from './lib/entries.js';
import { int, text } from './lib/json.js';
import { dropPages } from './lib/kept-pages.js';
import { closeLog, openLog, sequenceOf, writeControl } from './lib/log.js';
import { num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';
import { countDroppedLog } from './lib/size.js';

export interface TruncateRequest {
  /** Chunks of steps above this one are removed. */
  step: number;
  /** Entries up to this sequence stay: the cursor between pages. */
  after: number;
  /** Remove only chunks of this agent. */
  agentId?: string;
  now: number;
  /** What earlier pages removed, and the sequence of the last removed chunk. */
  removed: number;
  lastRemoved: number;
}

/**
 * truncate: removes a page of chunks of steps above a bound. The last page informs attached
 * readers.
 *
 * @returns the number of removed chunks and the last removed sequence, with `next`, where the next
 * page begins, while there is one
 */
export function truncate(session: Session, request: TruncateRequest): string {
  const { step, agentId } = request;
  let { removed, lastRemoved, after } = request;
  const from = `(${formatInt(after)}-0`;
  const page = redis.call('XRANGE', session.stream, from, '+', 'COUNT', int(PAGE));
  const ids: string[] = [];
  let bytes = 0;
  for (const [id, entry] of page) {
    after = sequenceOf(id);
    const json = jsonOf(entry);
    if (!isAbove(placeOf(json, session.conversationId), step, agentId)) continue;
    ids.push(id);
    bytes += byteLength(json);
    removed += 1;
    lastRemoved = after;
  }
  if (ids.length > 0) {
    redis.call('XDEL', session.stream, ...ids);
    dropPages(session);
  }
  countDroppedLog(session, bytes);
  const before = readRoot(session, ['seq']).seq;
  const done = `"removed":${int(removed)},"lastRemoved":${int(lastRemoved)},"atSequence":${int(num(before))}`;
  if (page.length === PAGE) return `{${done},"next":${int(after)}}`;
  if (removed > 0) {
    const log = openLog(session, before);
    const at = `"truncatedAtStep":${int(step)},"atSequence":${int(num(before))}`;
    const of = `"streamId":${text(session.conversationId)},"timestamp":${int(request.now)}`;
    const last = `"lastRemoved":${int(lastRemoved)}`;
    writeControl(log, `{"type":"stream_truncated",${of},${at},${last}}`);
    closeLog(log);
  }
  return `{${done}}`;
}

/** A value that was not written by this runtime is left alone. */
function isAbove(place: Place | undefined, step: number, agentId: string | undefined): boolean {
  if (place === undefined || typeof place.step !== 'number' || place.step <= step) return false;
  return agentId === undefined || place.agentId === agentId;
}
