import type { MemorySession } from '../session.js';
import { stagedOf } from '../staging.js';

/** Forgets the changes that a step's calls asked for; returns whose they were. */
export function dropStaged(session: MemorySession, stepId: string): string[] {
  return stagedOf(session, stepId).map(({ key, changes }) => {
    session.staged.delete(key);
    return changes.toolCallId;
  });
}
