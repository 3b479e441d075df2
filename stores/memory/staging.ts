import type { StagedChanges } from '../contract/staging.js';
import { fromJson, toJson } from './json.js';
import type { MemorySession } from './session.js';

export function stagedKey(stepId: string, toolCallId: string): string {
  return `${stepId}/${toolCallId}`;
}

/** Staged changes in the order of their keys; of all steps if none is named. */
export function stagedOf(
  session: MemorySession,
  stepId?: string,
): { key: string; stepId: string; n: number; changes: StagedChanges }[] {
  return [...session.staged]
    .map(([key, staged]) => {
      const changes = fromJson(staged.changes);
      // Either part may have a slash of its own.
      return {
        key,
        stepId: key.slice(0, -stagedKey('', changes.toolCallId).length),
        n: staged.n,
        changes,
      };
    })
    .filter((staged) => stepId === undefined || staged.stepId === stepId);
}

/** Keeps what a call wants changed; the same call's earlier changes are replaced. */
export function stageChanges(session: MemorySession, stepId: string, changes: StagedChanges): void {
  session.stagedCount += 1;
  session.staged.set(stagedKey(stepId, changes.toolCallId), {
    n: session.stagedCount,
    changes: toJson(changes),
  });
}
