import type { CustomState } from './custom-state.js';

/** Checkpoints: what committed steps left. Methods throw HelixError `not_found` for an unknown session. */
export interface Checkpoints {
  /** Null if this session has no such checkpoint. */
  get: (
    sessionId: string,
    checkpointId: string,
  ) => Promise<(Checkpoint & { customState: CustomState }) | null>;
  /** The newest one; null if no step is committed. */
  latest: (sessionId: string) => Promise<Checkpoint | null>;
  /** Newest first; `limit` defaults to 50. */
  list: (sessionId: string, page?: { limit?: number; cursor?: string }) => Promise<CheckpointPage>;
}

export interface Checkpoint {
  id: string;
  runId: string;
  stepCount: number;
  /** Rows of the transcript at that moment. */
  messageCount: number;
  streamSequence: number;
  timestamp: number;
  /** Version of the custom state at that moment. */
  stateVersion: number;
}

export interface CheckpointPage {
  /** Newest first. */
  checkpoints: Checkpoint[];
  /** Pass on to read on; absent on the last page. */
  cursor?: string;
}
