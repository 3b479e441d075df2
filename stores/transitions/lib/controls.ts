import { byteLength, formatInt, redis } from './host.js';
import { PAGE } from './attempts.js';
import { jsonOf, writerOf } from './entries.js';
import { int } from './json.js';
import { isControl } from './log.js';
import { addToField, num, readField, setFields, type Root } from './root.js';
import type { Session } from './session.js';
import { countDroppedLog } from './size.js';

/**
 * The store's control messages are counted apart from chunks: `controls` is their number in the
 * log, `turnControls` the number before the newest turn.
 */

/**
 * Number of control messages in the log, given the stored count; 0 for a stream that has expired.
 */
function controlsIn(session: Session, counted: string | undefined): number {
  const controls = num(counted);
  return controls === 0 || redis.call('EXISTS', session.stream) === 1 ? controls : 0;
}

/** Corrects the stored count. */
export function recountControls(session: Session): void {
  const { conversation } = session;
  const left = controlsIn(session, readField(conversation, 'controls'));
  if (left === 0) setFields(conversation, ['controls', '0', 'turnControls', '0']);
}

/**
 * Removes the entries of turns before the newest one. @returns the number of control messages left
 */
export function trimOldTurns(
  session: Session,
  root: Root<'turnSeq' | 'controls' | 'turnControls'>,
): number {
  const before = num(root.turnSeq);
  const gone =
    root.turnControls === undefined ? countControls(session, before) : num(root.turnControls);
  redis.call('XTRIM', session.stream, 'MINID', `${formatInt(before + 1)}-0`);
  return num(root.controls) - gone;
}

/** For a turn that a rewind began: how many precede it was not known then. */
function countControls(session: Session, upTo: number): number {
  let count = 0;
  let after = '-';
  let isMore = true;
  while (isMore) {
    const until = `${formatInt(upTo)}-0`;
    const page = redis.call('XRANGE', session.stream, after, until, 'COUNT', int(PAGE));
    for (const [id, entry] of page) {
      if (isControl(writerOf(entry), jsonOf(entry))) count += 1;
      after = `(${id}`;
    }
    isMore = page.length === PAGE;
  }
  return count;
}

/** Removes a page of the entries after a sequence, newest first; true if none are left. */
export function removeAfter(session: Session, sequence: number): boolean {
  const after = `(${formatInt(sequence)}-0`;
  const page = redis.call('XREVRANGE', session.stream, '+', after, 'COUNT', int(PAGE));
  const ids: string[] = [];
  let controls = 0;
  let bytes = 0;
  for (const [id, entry] of page) {
    ids.push(id);
    bytes += byteLength(jsonOf(entry));
    if (isControl(writerOf(entry), jsonOf(entry))) controls += 1;
  }
  if (ids.length > 0) redis.call('XDEL', session.stream, ...ids);
  if (controls > 0) addToField(session, 'controls', -controls);
  countDroppedLog(session, bytes);
  return page.length < PAGE;
}
