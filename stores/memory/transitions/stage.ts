import type { StagedChanges } from '../../session-state.js';
import { toJson } from '../json.js';
import type { MemorySession } from '../session.js';
import { stagedKey } from '../staging.js';

/** Keeps what a call wants changed in the agent's own state, until its step is promoted. */
export function stage(session: MemorySession, stepId: string, changes: StagedChanges): boolean {
  if (session.identity === undefined) return false;
  session.stagedCount += 1;
  const staged = { n: session.stagedCount, changes: toJson(changes) };
  session.staged.set(stagedKey(stepId, changes.toolCallId), staged);
  return true;
}
