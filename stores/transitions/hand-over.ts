import { redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { forgive, lostOf, noteHandOver } from './lib/budget.js';
import { int } from './lib/json.js';
import { only, type WriterRequest } from './lib/request.js';
import { isTerminal, num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface HandOverRequest {
  writer: WriterRequest;
  /** The call whose execution ends; absent for a model's step. */
  toolCallId?: string;
  /**
   * `left`: the worker goes, an engine is away, or the attempt was judged dead: it was no execution.
   * `retry`: the tool failed and is to be executed again. `fault`: the code threw, which counts.
   */
  how: 'left' | 'retry' | 'fault';
}

/**
 * hand over: an attempt ends without a result, and says so. Its owner is not counted as lost then; one
 * that was taken over meanwhile is forgiven.
 */
export function handOver(session: Session, { writer, toolCallId, how }: HandOverRequest): string {
  const { runId, name, token } = writer;
  const root = readRoot(session, ['run', 'status']);
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  const owner = readOwner(session, name);
  if (owner.token < token) return only('not_owner');
  const handed = redis.call('HGET', session.writers, `h:${name}`);
  const isFirst = handed === false || num(handed) !== token;
  if (owner.token > token) {
    if (how === 'left') forgive(session, name, token);
  } else if (isFirst) {
    noteHandOver(session, name, token, how === 'fault');
    if (how === 'left' && toolCallId !== undefined) {
      redis.call('HINCRBY', session.calls, `n:${toolCallId}`, -1);
    }
  }
  return `{"kind":"handed_over","lost":${int(lostOf(session, name))}}`;
}
