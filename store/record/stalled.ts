import { LIMITS } from '../../protocol/limits.js';
import { isTerminal } from '../../protocol/run.js';
import type { SessionRecord } from '../contract/sessions.js';

type Standing = Pick<SessionRecord, 'status' | 'stream' | 'updatedAt' | 'waitsUntil'>;

/**
 * True for an active run that has written nothing for long: no worker, or a silent model. A run that
 * waits for its provider has time until that is asked again. Pure.
 */
export function isStalled(
  { status, stream, updatedAt, waitsUntil = 0 }: Standing,
  now: number,
): boolean {
  const heard = Math.max(updatedAt, waitsUntil);
  return !isTerminal(status) && stream === 'active' && now - heard > LIMITS.stalledMs;
}
