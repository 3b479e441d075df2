import type { JSONPatchOperation } from '../../protocol/chunk.js';
import type { CustomState, VersionedState } from './custom-state.js';

/**
 * Staging: changes of the custom state that calls request, kept until they are promoted. Methods
 * throw HelixError `not_found` for an unknown session unless stated otherwise.
 */
export interface Staging {
  /**
   * Stages the changes of a call until its step is promoted; earlier changes of the same call are
   * replaced.
   */
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
   * Applies the staged changes of all steps, one call after another. Changes that conflict with
   * those of other calls are adapted so that the run can continue: missing parents are created, and
   * removing what is already gone is ignored.
   *
   * @param read the state as it was read before, which saves a read
   */
  promoteSettled: (sessionId: string, read?: StateRead) => Promise<PromotedState>;
  /**
   * Drops the staged changes of a step and returns their calls. Does nothing if the session does
   * not exist.
   */
  discard: (sessionId: string, stepId: string) => Promise<string[]>;
}

/** The state and its staged changes, read at one moment. */
export interface StateRead extends VersionedState {
  staged: (StagedChanges & { stepId: string })[];
}

/** What one tool call wants to change in the custom state. */
export interface StagedChanges {
  toolCallId: string;
  /** RFC 6902, applied to the state at the time of promotion. */
  patches: JSONPatchOperation[];
  /** Keys of the state to set before the patches are applied. */
  mergeChanges?: CustomState;
  timestamp: number;
}

export interface PromotedState extends VersionedState {
  /** Calls whose changes were applied. */
  toolCallIds: string[];
}
