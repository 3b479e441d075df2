import type { CustomState } from '../../stores/contract/custom-state.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import type { StagedChanges } from '../../stores/contract/staging.js';
import type { Store } from '../../stores/contract/store.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { fitChanges } from '../../stores/record/apply-changes.js';
import { replayRange } from './replay-range.js';

interface StateDeps {
  stateStore: { documents: Pick<Store['documents'], 'readState'> };
  streamManager: Pick<StreamManager, 'read'>;
}

/**
 * The agent's own state before the entries that follow `after` in the newest turn: a client that applies
 * their patches to it applies each of them once. Without a place in that turn it is the newest state;
 * undefined if the agent has none.
 */
export async function readStateAt(
  { stateStore, streamManager }: StateDeps,
  { sessionId, stateVersion, turnStartSequence }: SessionRecord,
  after = -1,
): Promise<CustomState | undefined> {
  if (stateVersion === 0) return undefined;
  const isInTurn = after >= turnStartSequence;
  const { customState } = await stateStore.documents.readState(
    sessionId,
    isInTurn ? 'turn' : 'now',
  );
  if (!isInTurn) return customState;
  const changes: StagedChanges[] = [];
  for await (const entries of replayRange(streamManager, sessionId, turnStartSequence, after)) {
    for (const { message } of entries) {
      if (message.type !== 'state_patch' || message.agentId !== sessionId) continue;
      const { patches, timestamp } = message;
      changes.push({ toolCallId: '', patches, timestamp });
    }
  }
  return fitChanges(customState, changes);
}
