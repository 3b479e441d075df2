import { int } from './json.js';
import { redis } from './host.js';
import type { Session } from './session.js';

/**
 * Stages what a call wants to change in the agent's own state; its earlier changes are replaced.
 */
export function stageChanges(session: Session, stepId: string, id: string, changes: string): void {
  const n = redis.call('HINCRBY', session.staged, 'n', '1');
  redis.call('HSET', session.staged, `${stepId}/${id}`, `${int(n)} ${changes}`);
}
