import { LIMITS } from '../../protocol/limits.js';
import { isTerminal } from '../../protocol/run.js';
import type { SessionRecord } from '../contract/sessions.js';

/** True for a run at work that has written nothing for long: no worker, or a model that is silent. Pure. */
export function isStalled(
  { status, stream, updatedAt }: Pick<SessionRecord, 'status' | 'stream' | 'updatedAt'>,
  now: number,
): boolean {
  return !isTerminal(status) && stream === 'active' && now - updatedAt > LIMITS.stalledMs;
}
