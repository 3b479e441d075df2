import type { FrontendSnapshot } from '../../protocol/http.js';
import type { Row } from '../../protocol/rows.js';
import type { Store } from '../../stores/contract/store.js';
import { convertToUIMessages } from '../parts/convert-messages.js';
import { isOwner, type Caller } from './ownership.js';
import { findOwnSession } from './session-address.js';
import type { UIMessage } from '../parts/ui-message.js';

export interface PastSnapshotParams {
  sessionId: string;
  checkpointId: string;
  /** Who asks. Without a caller nothing is returned. */
  caller: Caller;
}

/**
 * The conversation as of a checkpoint: up to and including the results of its step's calls. It is a
 * picture, no place to follow the stream from.
 *
 * @returns null if there is no such session or checkpoint, or it belongs to somebody else
 */
export async function buildPastSnapshot(
  { stateStore }: { stateStore: Pick<Store, 'sessions' | 'checkpoints'> },
  { sessionId, checkpointId, caller }: PastSnapshotParams,
): Promise<FrontendSnapshot<UIMessage> | null> {
  const record = await findOwnSession(stateStore, sessionId, caller);
  if (record === undefined) return null;
  const view = await stateStore.sessions.view(record.sessionId);
  if (view === undefined || !isOwner(view.record, caller)) return null;
  const checkpoint = await stateStore.checkpoints.get(record.sessionId, checkpointId);
  if (checkpoint === null) return null;
  const { rows, openCalls } = view;
  let end = checkpoint.messageCount;
  while (isResult(rows[end])) end += 1;
  return {
    state: checkpoint.stateVersion === 0 ? null : checkpoint.customState,
    messages: convertToUIMessages(rows.slice(0, end), { openCalls }),
    streamSequence: checkpoint.streamSequence,
    status: 'ended',
    checkpointId,
    timestamp: checkpoint.timestamp,
  };
}

/** Results follow their step's reply, and so does what people were asked beside it. */
function isResult(row: Row | undefined): boolean {
  return row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
}
