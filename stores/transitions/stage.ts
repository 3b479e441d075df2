import { expireWithRoot } from './lib/expiry.js';
import { contentAt, only, type Content } from './lib/request.js';
import { readField } from './lib/root.js';
import type { Session } from './lib/session.js';
import { stageChanges } from './lib/staging.js';

export interface StageRequest {
  stepId: string;
  toolCallId: string;
  changes: Content;
}

/**
 * stage: stores the changes that a call makes to the agent's own state, until its step is promoted.
 *
 * @returns `staged` · `not_found`
 */
export function stage(
  session: Session,
  { stepId, toolCallId, changes }: StageRequest,
  args: readonly string[],
): string {
  if (readField(session, 'agent') === undefined) return only('not_found');
  stageChanges(session, stepId, toolCallId, contentAt(args, changes));
  expireWithRoot(session);
  return only('staged');
}
