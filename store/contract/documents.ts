import type { JSONPatchOperation } from '../../protocol/chunk.js';
import type { Row } from '../../protocol/rows.js';
import type { CustomState } from '../../session/input.js';
import type { Checkpoint } from '../../session/record.js';
import type { PendingCall, SuspensionContext } from './calls.js';
import type { InterruptRecord } from './runs.js';
import type { SessionRecord } from './sessions.js';
import type { Paged, PageOptions } from './waiting.js';

export type { CustomState } from '../../session/input.js';
export type { Checkpoint } from '../../session/record.js';

export interface VersionedState {
  customState: CustomState;
  version: number;
}

/** Documents: a session as one object, its state and its transcript. An unknown one is `not_found` unless stated. */
export interface Documents {
  /** Everything about a session, read at one moment; null if it does not exist. */
  load: (sessionId: string) => Promise<SessionState | null>;
  /** Replaces the custom state if it still has the version that was loaded. @throws StaleStateError otherwise */
  save: (sessionId: string, state: VersionedState) => Promise<{ version: number }>;
  /**
   * The custom state with the staged changes of settled calls. `turn`: the state at the turn's beginning, before any
   * change that the turn's stream reports.
   */
  readState: (sessionId: string, at?: 'now' | 'turn') => Promise<VersionedState>;
  /** Rows of the transcript; `limit` defaults to 50. An unknown session has no rows. */
  messages: (sessionId: string, page?: { offset?: number; limit?: number }) => Promise<MessagePage>;
}

/** A session in the shape of the Helix state store: record, transcript, custom state and pending calls. */
export interface SessionState extends SessionRecord {
  messages: Row[];
  /** The agent's own state: a JSON object. */
  customState: CustomState;
  /** Increases with each change of the custom state. */
  version: number;
  pendingClientToolCalls: Record<string, PendingCall>;
  suspensionContext?: SuspensionContext;
  interruptContext?: InterruptRecord;
}

export interface MessagePage {
  messages: Row[];
  total: number;
  hasMore: boolean;
}

/** Checkpoints: the state after each committed step. Methods throw HelixError `not_found` for an unknown session. */
export interface Checkpoints {
  /** Null if the session does not have this checkpoint. */
  get: (
    sessionId: string,
    checkpointId: string,
  ) => Promise<(Checkpoint & { customState: CustomState }) | null>;
  /** The newest checkpoint; null if no step is committed. */
  latest: (sessionId: string) => Promise<Checkpoint | null>;
  /** Newest first; `limit` defaults to 50. */
  list: (sessionId: string, page?: Partial<PageOptions>) => Promise<CheckpointPage>;
}

export interface CheckpointPage extends Paged {
  checkpoints: Checkpoint[];
}

/** Staging: state changes that calls request, until promoted. An unknown session is `not_found` unless stated. */
export interface Staging {
  /** Stages the changes of a call until its step is promoted; earlier changes of the same call are replaced. */
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
   * Applies the staged changes of all steps, one call after another. Conflicting changes of different calls are adapted
   * so that the run can continue: missing parents are created, and removals of missing values are ignored.
   *
   * @param read the state if it was read before, which saves a read
   */
  promoteSettled: (sessionId: string, read?: StateRead) => Promise<PromotedState>;
  /** Drops the staged changes of a step and returns their calls. Does nothing if the session does not exist. */
  discard: (sessionId: string, stepId: string) => Promise<string[]>;
}

/** The state and its staged changes, read at one moment. */
export interface StateRead extends VersionedState {
  staged: (StagedChanges & { stepId: string })[];
}

/** Changes of the custom state that one tool call requests. */
export interface StagedChanges {
  toolCallId: string;
  /** RFC 6902, applied to the state at the time of promotion. */
  patches: JSONPatchOperation[];
  /** Keys of the state to set before the patches are applied. */
  mergeChanges?: CustomState;
  timestamp: number;
}

export interface PromotedState extends VersionedState {
  toolCallIds: string[];
}
