import type { StagedChanges } from '../session-state.js';
import type { Json } from './json.js';
import type { MemorySession } from './session.js';

export function stagedKey(stepId: string, toolCallId: string): string {
  return `${stepId}/${toolCallId}`;
}

/** A step's staged changes, in the order of their keys. */
export function stagedOf(
  session: MemorySession,
  stepId: string,
): { key: string; toolCallId: string; n: number; changes: Json<StagedChanges> }[] {
  const prefix = stagedKey(stepId, '');
  return [...session.staged]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, staged]) => ({ key, toolCallId: key.slice(prefix.length), ...staged }));
}
