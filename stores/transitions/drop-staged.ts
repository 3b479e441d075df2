import { redis } from './lib/host.js';
import { texts } from './lib/json.js';
import type { Session } from './lib/session.js';

export interface DropStagedRequest {
  stepId: string;
}

/**
 * drop staged: forgets the state changes that the calls of a step have staged.
 *
 * @returns `dropped` with the ids of these calls
 */
export function dropStaged(session: Session, { stepId }: DropStagedRequest): string {
  const prefix = `${stepId}/`;
  const dropped: string[] = [];
  for (const field of redis.call('HKEYS', session.staged)) {
    if (!field.startsWith(prefix)) continue;
    redis.call('HDEL', session.staged, field);
    dropped.push(field.slice(prefix.length));
  }
  return `{"kind":"dropped","toolCallIds":${texts(dropped)}}`;
}
