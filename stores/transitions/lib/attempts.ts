import { byteLength, formatInt, redis } from './host.js';
import { field, int, optional, stored, text } from './json.js';
import { sequenceOf, write, type Log } from './log.js';
import { spokenBytes } from './budget.js';
import { ownChunk, type Speaker } from './chunks.js';
import { jsonOf, writerOf } from './entries.js';
import { dropPages } from './kept-pages.js';
import { num, type Root } from './root.js';
import type { Session } from './session.js';
import { countDroppedLog } from './size.js';

/**
 * Number of entries that one request examines; longer work is split over several requests, so that
 * none blocks Redis.
 */
export const PAGE = 400;

export interface Owner {
  /** 0: the writer has no owner. */
  token: number;
  /** The owner has not yet withdrawn everything that earlier attempts left. */
  isWithdrawing: boolean;
}

export function readOwner(session: Session, writer: string): Owner {
  const [token, wrote] = redis.call('HMGET', session.writers, `t:${writer}`, `w:${writer}`);
  return { token: token === false ? 0 : num(token), isWithdrawing: wrote !== false };
}

/** Makes an attempt the owner of its writer name; `seq` is the sequence before its first entry. */
export function ownWriter(
  session: Session,
  writer: string,
  token: number,
  seq: number,
  wasOwned: boolean,
): void {
  redis.call(
    'HSET',
    session.writers,
    `t:${writer}`,
    formatInt(token),
    `b:${writer}`,
    '0',
    `s:${writer}`,
    '0',
    `f:${writer}`,
    formatInt(seq),
    `e:${writer}`,
    '',
  );
  if (wasOwned) redis.call('HDEL', session.writers, `w:${writer}`, `h:${writer}`);
}

export function releaseWriter(session: Session, writer: string): void {
  const names: string[] = [];
  const fields = ['t', 'b', 's', 'f', 'e', 'w', 'n', 'l', 'h', 'g'];
  for (const field of fields) names.push(`${field}:${writer}`);
  redis.call('HDEL', session.writers, ...names);
}

/**
 * Withdraws a page of what attempts with lower tokens wrote. The new attempt already owns the
 * writer, so the earlier ones cannot add entries meanwhile, and if it dies halfway, the next
 * attempt continues.
 *
 * @param spoken counts the bytes of model output among the withdrawn entries
 * @returns undefined if there is more; otherwise whether anything was removed
 */
export function withdraw(
  session: Session,
  writer: string,
  token: number,
  spoken?: { bytes: number },
): { removed: boolean } | undefined {
  const { writers, stream } = session;
  const names = [`f:${writer}`, `b:${writer}`, `w:${writer}`];
  const [first = false, batch = false, wrote = false] = redis.call('HMGET', writers, ...names);
  if (first === false) return { removed: false };
  if (batch === '0' && wrote === false) return { removed: false };
  const page = redis.call('XRANGE', stream, `(${first}-0`, '+', 'COUNT', formatInt(PAGE));
  const ids: string[] = [];
  let last = first;
  let bytes = 0;
  for (const [id, entry] of page) {
    if (writerOf(entry) === writer) {
      const json = jsonOf(entry);
      ids.push(id);
      if (spoken !== undefined) spoken.bytes += spokenBytes(json);
      bytes += byteLength(json);
    }
    last = id;
  }
  if (ids.length > 0) {
    redis.call('XDEL', stream, ...ids);
    dropPages(session);
  }
  countDroppedLog(session, bytes);
  const removed = ids.length > 0 || wrote === 'withdrawn';
  if (page.length < PAGE) return { removed };
  const state = removed ? 'withdrawn' : 'wrote';
  const owner = [`t:${writer}`, formatInt(token), `b:${writer}`, '0', `s:${writer}`, '0'];
  const at = [`f:${writer}`, formatInt(sequenceOf(last)), `w:${writer}`, state];
  redis.call('HSET', writers, ...owner, ...at);
  return undefined;
}

/** Informs viewers that part of what they saw was withdrawn; only for one call, if it is named. */
export function writeResync(
  session: Session,
  root: Root<'checkpoint' | 'committed'>,
  log: Log,
  speaker: Speaker,
  toolCallId?: string,
): void {
  const kept = `"checkpointId":${text(root.checkpoint ?? '')},"stepCount":${stored(root.committed)}`;
  const rows = int(redis.call('LLEN', session.rows));
  const place = `"messageCount":${rows},"fromSequence":${int(log.seq)}`;
  const why = `"reason":"crash_recovery"${field('toolCallId', optional(toolCallId))}`;
  write(log, ownChunk(speaker, 'stream_resync', `${kept},${place},${why}`));
}

/** Informs viewers that an attempt at a step was discarded. */
export function writeDiscard(
  session: Session,
  root: Root<'run' | 'checkpoint' | 'committed'>,
  log: Log,
  speaker: Speaker,
  reason: string,
  removed: boolean,
): void {
  const attempt = `"runId":${text(root.run ?? '')},"stepId":"s${int(speaker.step)}"`;
  write(log, ownChunk(speaker, 'step_discarded', `${attempt},"reason":${text(reason)}`));
  if (removed) writeResync(session, root, log, speaker);
}
