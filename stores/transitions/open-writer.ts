import { redis } from './lib/host.js';
import { ownWriter, readOwner, writeDiscard, withdraw } from './lib/attempts.js';
import { recountControls } from './lib/controls.js';
import { persist } from './lib/expiry.js';
import { int, stored } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { MORE, only, type WriterRequest } from './lib/request.js';
import { dropFields, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface OpenWriterRequest {
  writer: Omit<WriterRequest, 'runId'>;
  /** Distinguishes a repeated request from a second writer with the same token. */
  nonce: string;
  now: number;
}

const FIELDS = ['seq', 'stream', 'agent', 'run', 'checkpoint', 'committed'] as const;

/**
 * open writer: makes an attempt the owner of a writer name that belongs to no run, and withdraws
 * what attempts with lower tokens wrote. It creates the stream if needed and reopens one that has
 * ended; the stream of a session is reopened only by its runs.
 *
 * Checks, in this order: the same request was served (same reply) · fence · the stream of a session
 * has ended.
 *
 * @returns `opened` with the sequence · `fenced` · `ended` · `more`, send the request again
 */
export function openWriter(session: Session, { writer, nonce, now }: OpenWriterRequest): string {
  const { name, token, agentType, step } = writer;
  const root = readRoot(session, FIELDS);
  const owner = readOwner(session, name);
  if (owner.token === token && redis.call('HGET', session.writers, `n:${name}`) === nonce) {
    return `{"kind":"opened","sequence":${stored(root.seq)}}`;
  }
  if (owner.token > token || (owner.token === token && !owner.isWithdrawing)) return only('fenced');
  const rests = root.stream !== 'active' && root.stream !== 'paused';
  if (rests && root.agent !== undefined) return only('ended');
  const log = openLog(session, root.seq);
  if (owner.token > 0) {
    const before = withdraw(session, name, token);
    if (before === undefined) return MORE;
    const agentId = writer.agentId ?? writer.sessionId;
    const speaker = { agentId, agentType, step, now };
    writeDiscard(session, root, log, speaker, 'attempt_lost', before.removed);
  }
  closeLog(log);
  ownWriter(session, name, token, log.seq, owner.token > 0);
  redis.call('HSET', session.writers, `n:${name}`, nonce);
  if (rests) {
    setFields(session, ['stream', 'active', 'seq', int(log.seq), 'updated', int(now)]);
    dropFields(session, ['streamError']);
    recountControls(session);
    persist(session);
  }
  return `{"kind":"opened","sequence":${int(log.seq)}}`;
}
