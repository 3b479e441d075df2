import { int } from './lib/json.js';
import { redis } from './lib/host.js';
import { armExpiry } from './lib/expiry.js';
import { closeLog, openLog, writeControl } from './lib/log.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isLive, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface MarkRequest {
  status: 'active' | 'paused' | 'ended' | 'failed';
  /** The control message. */
  message: Content;
  /** Why the stream failed. */
  error?: string;
  now: number;
}

/**
 * mark: pauses, resumes or ends a stream that belongs to no run. The first end counts.
 *
 * Checks, in this order: the stream exists · no run owns it · it has not ended and its status
 * differs.
 *
 * @returns `marked` · `unchanged` · `owned` · `not_found`
 */
export function mark(
  session: Session,
  { status, message, error, now }: MarkRequest,
  args: readonly string[],
): string {
  const root = readRoot(session, ['stream', 'status', 'seq', 'agent']);
  if (root.stream === undefined) return only('not_found');
  if (isLive(root.status)) return only('owned');
  const isOver = root.stream === 'ended' || root.stream === 'failed';
  if (isOver || root.stream === status) return only('unchanged');
  const log = openLog(session, root.seq);
  writeControl(log, contentAt(args, message));
  closeLog(log);
  setFields(session, ['stream', status, 'updated', int(now)]);
  if (status === 'ended' || status === 'failed') {
    if (error !== undefined) setFields(session, ['streamError', error]);
    redis.call('UNLINK', session.writers);
    armExpiry(session, root.agent !== undefined);
  }
  return only('marked');
}
