import type { NumberedChanges } from '../../record/session-documents.js';
import type { CustomState } from '../../contract/custom-state.js';
import { toJson } from '../json.js';
import type { MemorySession, StoreContext } from '../session.js';
import { stagedKey } from '../staging.js';

interface Save {
  expectedVersion: number;
  state: CustomState;
  /** The staged changes that the state was made of. */
  taken?: readonly NumberedChanges[] | undefined;
}

type Saved = { kind: 'saved'; version: number } | { kind: 'stale' } | { kind: 'not_found' };

/** Replaces the agent's own state if it is the expected version; takes the changes it was made of. */
export function saveState(
  session: MemorySession,
  { expectedVersion, state, taken }: Save,
  { now }: StoreContext,
): Saved {
  if (session.identity === undefined) return { kind: 'not_found' };
  const { stateVersion, staged } = session;
  if (stateVersion !== expectedVersion) return { kind: 'stale' };
  const keys = (taken ?? []).map(({ stepId, toolCallId, n }) => ({
    key: stagedKey(stepId, toolCallId),
    n,
  }));
  if (keys.some(({ key, n }) => staged.get(key)?.n !== n)) return { kind: 'stale' };
  for (const { key } of keys) staged.delete(key);
  putState(session, state);
  session.updatedAt = now;
  return { kind: 'saved', version: session.stateVersion };
}

/** Replaces the agent's own state. A version that a checkpoint names stays. */
export function putState(session: MemorySession, state: CustomState): void {
  const { states, stateVersion, checkpointVersion } = session;
  if (stateVersion !== checkpointVersion) states.delete(stateVersion);
  session.stateVersion += 1;
  states.set(session.stateVersion, toJson(state));
}
