import type { JsonPatchOperation } from '../../protocol/chunk.js';
import type { CustomState, VersionedState } from './custom-state.js';

/**
 * Staging: changes of the custom state that calls want, kept until they are promoted. Methods throw
 * HelixError `not_found` for a session that does not exist unless they say otherwise.
 */
export interface Staging {
  /** Keeps a call's changes until its step is promoted; the same call's earlier ones are replaced. */
  stage: (
    sessionId: string,
    stepId: string,
    changes: Omit<StagedChanges, 'timestamp'>,
  ) => Promise<void>;
  /**
   * Applies a step's staged changes in the order in which they were staged, all or none.
   *
   * @throws HelixError `invalid_patch` if one does not fit the state; everything stays staged
   */
  promote: (sessionId: string, stepId: string) => Promise<PromotedState>;
  /**
   * Applies the staged changes of all steps, one call after another. Changes that do not fit what
   * other calls did meanwhile are made to fit, so none holds up the run: what is missing is put
   * there, and what is to go may be gone.
   */
  promoteSettled: (sessionId: string) => Promise<PromotedState>;
  /** Drops a step's staged changes and returns the calls they were of. Harmless without a session. */
  discard: (sessionId: string, stepId: string) => Promise<string[]>;
}

/** What one tool call wants changed in the custom state. */
export interface StagedChanges {
  toolCallId: string;
  /** RFC 6902, applied to the state as it is when promoted. */
  patches: JsonPatchOperation[];
  /** Keys of the state to set, before the patches. */
  mergeChanges?: CustomState;
  timestamp: number;
}

export interface PromotedState extends VersionedState {
  /** Calls whose changes were taken. */
  toolCallIds: string[];
}
