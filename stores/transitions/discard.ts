import { redis } from './lib/host.js';
import { writeDiscard, withdraw } from './lib/attempts.js';
import { int } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { MORE, only, type WriterRequest } from './lib/request.js';
import { isTerminal, num, readRoot, seqOf, setFields, storeNow } from './lib/root.js';
import { idOf, type Session } from './lib/session.js';
import { addUsage } from './lib/usage.js';

export interface DiscardRequest {
  writer: WriterRequest;
  reason: string;
  /** Number of this failure within the step, from 1, so that a repeated request counts it once. */
  failure: number;
  /** Six numbers, see lib/usage; '' if unknown. */
  usage: string;
  /** Place of the model that is asked next, if that is another one; later attempts ask it, too. */
  fallback?: number;
  /** How long the run waits for its provider from now on, ms. */
  waitMs?: number;
  now: number;
}

/**
 * discard: withdraws what this attempt wrote and counts a failure of the provider. With `waitMs`
 * the run waits for its provider until the next claim.
 *
 * Checks, in this order: this failure is already counted (same reply) · the run is the newest and
 * active · fence.
 *
 * @returns `discarded` with the number of failures · `superseded` · `fenced` · `more`, send the
 * request again
 */
export function discard(session: Session, request: DiscardRequest): string {
  const { writer, failure, reason, usage, fallback, waitMs, now } = request;
  const { runId, name, token, agentType, step } = writer;
  const counted = `fails:${int(step)}`;
  const [failed = false, owner = false, wrote = false] = redis.call(
    'HMGET',
    session.writers,
    counted,
    `t:${name}`,
    `w:${name}`,
  );
  const failures = failed === false ? 0 : num(failed);
  if (failures >= failure) return `{"kind":"discarded","failures":${int(failures)}}`;
  const root = readRoot(session, ['run', 'status', 'seq', 'stream', 'checkpoint', 'committed']);
  const seq = seqOf(session);
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  if (owner === false || num(owner) !== token) return only('fenced');
  const withdrawal = withdraw(session, name, token);
  if (withdrawal === undefined) return MORE;
  const log = openLog(session, seq);
  const speaker = { agentId: idOf(session), agentType, step, now };
  writeDiscard(session, root, log, speaker, reason, withdrawal.removed);
  closeLog(log);
  addUsage(session, usage);
  redis.call('HSET', session.writers, `f:${name}`, int(log.seq));
  if (wrote !== false) redis.call('HDEL', session.writers, `w:${name}`);
  const counts = redis.call('HINCRBY', session.writers, counted, '1');
  redis.call('HSETNX', session.writers, `since:${int(step)}`, int(storeNow()));
  if (fallback !== undefined) {
    const reached = `{"index":${int(fallback)},"before":${int(counts)}}`;
    redis.call('HSET', session.writers, `model:${int(step)}`, reached);
  }
  if (waitMs !== undefined) {
    redis.call('HINCRBY', session.writers, `waits:${int(step)}`, '1');
    setFields(session.conversation, ['waitsUntil', int(storeNow() + waitMs)]);
  }
  return `{"kind":"discarded","failures":${int(counts)}}`;
}
