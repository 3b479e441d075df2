import type { CustomState } from './custom-state.js';

/**
 * Checkpoints: the state after each committed step. Methods throw HelixError `not_found` for an
 * unknown session.
 */
export interface Checkpoints {
  /** Null if the session does not have this checkpoint. */
  get: (
    sessionId: string,
    checkpointId: string,
  ) => Promise<(Checkpoint & { customState: CustomState }) | null>;
  /** The newest checkpoint; null if no step is committed. */
  latest: (sessionId: string) => Promise<Checkpoint | null>;
  /** Newest first; `limit` defaults to 50. */
  list: (sessionId: string, page?: { limit?: number; cursor?: string }) => Promise<CheckpointPage>;
}

export interface Checkpoint {
  id: string;
  runId: string;
  stepCount: number;
  /** Number of rows in the transcript at that moment. */
  messageCount: number;
  streamSequence: number;
  timestamp: number;
  /** Version of the custom state at that moment. */
  stateVersion: number;
}

export interface CheckpointPage {
  /** Newest first. */
  checkpoints: Checkpoint[];
  /** Cursor of the next page; absent on the last page. */
  cursor?: string;
}
