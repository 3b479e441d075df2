import { redis } from './lib/host.js';
import { readOwner } from './lib/attempts.js';
import { forgive, lostOf, noteHandOver } from './lib/budget.js';
import { int } from './lib/json.js';
import { only, type WriterRequest } from './lib/request.js';
import { isTerminal, num, readRoot } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface HandOverRequest {
  writer: WriterRequest;
  /** The call that was being executed; absent for a model step. */
  toolCallId?: string;
  /**
   * `left`: the worker shuts down, an engine is unavailable, or the attempt was wrongly judged
   * dead; it does not count as an execution. `retry`: the tool failed and will be executed again.
   * `fault`: our code threw, which counts as a lost attempt.
   */
  how: 'left' | 'retry' | 'fault';
}

/**
 * hand over: an attempt reports that it ends without a result, so it is not counted as lost. An
 * attempt that was taken over while it lived is forgiven.
 *
 * Checks, in this order: the run is the newest and active · the attempt owns the writer, or did.
 *
 * @returns `handed_over` with the number of lost attempts · `superseded` · `not_owner`
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
      redis.call('HINCRBY', session.calls, `n:${toolCallId}`, '-1');
    }
  }
  return `{"kind":"handed_over","lost":${int(lostOf(session, name))}}`;
}
