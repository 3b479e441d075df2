import { redis } from './lib/host.js';
import { tellOfDiscard, withdraw } from './lib/attempts.js';
import { int } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { MORE, only, type WriterRequest } from './lib/request.js';
import { addShared, isTerminal, num, readRoot, storeNow } from './lib/root.js';
import { idOf, type Session } from './lib/session.js';
import { addUsage } from './lib/usage.js';

export interface DiscardRequest {
  writer: WriterRequest;
  reason: string;
  /** Which failure of this step it is, from 1: the same one is counted once. */
  failure: number;
  /** Six numbers, see usage; '' if there is none. */
  usage: string;
  /** How long nobody works on the run from here. */
  waitMs?: number;
  now: number;
}

/**
 * discard: withdraws what this attempt wrote, and counts a failure of the provider. With a wait the run
 * waits for its provider until the next claim.
 */
export function discard(session: Session, request: DiscardRequest): string {
  const { writer, failure, reason, usage, waitMs, now } = request;
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
  addShared(session, root);
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  if (owner === false || num(owner) !== token) return only('fenced');
  const withdrawal = withdraw(session, name, token);
  if (withdrawal === undefined) return MORE;
  const log = openLog(session, root.seq);
  const speaker = { agentId: idOf(session), agentType, step, now };
  tellOfDiscard(session, root, log, speaker, reason, withdrawal.removed);
  closeLog(log);
  addUsage(session, usage);
  redis.call('HSET', session.writers, `f:${name}`, log.seq);
  if (wrote !== false) redis.call('HDEL', session.writers, `w:${name}`);
  const counts = redis.call('HINCRBY', session.writers, counted, 1);
  redis.call('HSETNX', session.writers, `since:${int(step)}`, storeNow());
  if (waitMs !== undefined) {
    redis.call('HINCRBY', session.writers, `waits:${int(step)}`, 1);
    redis.call('HSET', session.conversation.root, 'waitsUntil', storeNow() + waitMs);
  }
  return `{"kind":"discarded","failures":${int(counts)}}`;
}
