import { LIMITS } from '../../protocol/limits.js';
import { isTerminal } from '../../protocol/run.js';
import type { SessionRecord } from '../contract/sessions.js';

type Standing = Pick<SessionRecord, 'status' | 'stream' | 'updatedAt' | 'waitsUntil'>;

/**
 * True for a run at work that has written nothing for long: no worker, or a model that is silent. One
 * that waits for its provider has time until that is asked again. Pure.
 */
export function isStalled(
  { status, stream, updatedAt, waitsUntil = 0 }: Standing,
  now: number,
): boolean {
  const heard = Math.max(updatedAt, waitsUntil);
  return !isTerminal(status) && stream === 'active' && now - heard > LIMITS.stalledMs;
}
