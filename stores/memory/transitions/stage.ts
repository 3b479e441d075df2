import type { StagedChanges } from '../../contract/staging.js';
import type { MemorySession } from '../session.js';
import { stageChanges } from '../staging.js';

/** Keeps what a call wants changed in the agent's own state, until its step is promoted. */
export function stage(session: MemorySession, stepId: string, changes: StagedChanges): boolean {
  if (session.identity === undefined) return false;
  stageChanges(session, stepId, changes);
  return true;
}
