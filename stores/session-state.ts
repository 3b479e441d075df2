import type { FinishReason, JsonPatchOperation } from '../protocol/chunk.js';
import type { Decision, Row, ToolRow } from '../protocol/rows.js';
import type { InterruptRecord, RunUsage, SessionRecord } from './session-record.js';
import type { RunError, RunMode, RunStatus } from '../protocol/run.js';

/** A session as the Helix state store gives it: record, transcript, the agent's own state, and what it waits for. */
export interface SessionState extends SessionRecord {
  messages: Row[];
  /** The agent's own state: a JSON object. */
  customState: CustomState;
  /** Grows with each change of the custom state. */
  version: number;
  pendingClientToolCalls: Record<string, PendingCall>;
  suspensionContext?: SuspensionContext;
  interruptContext?: InterruptRecord;
}

export type CustomState = Record<string, unknown>;

export interface VersionedState {
  customState: CustomState;
  version: number;
}

/** A call that waits, or waited, for a person or a client; of the newest committed step. */
export interface PendingCall {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  input: unknown;
  runId: string;
  approvalId?: string;
  /** ms since the epoch by the store's clock; set when the run paused. */
  deadline?: number;
  /** Present once answered. */
  response?: { decision?: Decision; row?: ToolRow };
}

/** Why a run rests. */
export interface SuspensionContext {
  kind: 'suspended_client_tool' | 'suspended_awaiting_children' | 'suspended_step_partial';
  runId: string;
  stepId: string;
  /** Calls that are not answered yet. */
  toolCallIds: string[];
  /** Sequence of the pause. */
  sequence: number;
}

/** One run of a session. */
export interface RunInfo {
  runId: string;
  turn: number;
  status: RunStatus;
  /** Steps committed. */
  stepCount: number;
  /** Sequence before its turn's first chunk. */
  startSequence: number;
  startedAt: number;
  endedAt?: number;
  usage?: RunUsage;
  /** Why the model ended its newest committed reply. */
  finishReason?: FinishReason;
  /** The result that the model handed in, of an agent with an output schema. */
  output?: unknown;
  /** Why it failed or was aborted, if that was said. */
  error?: RunError;
  /** Why it was interrupted, if that was said. */
  reason?: string;
  mode: RunMode;
  /** Index of its turn's first row. */
  startRow: number;
  /** UI message id of its turn's reply. */
  messageId: string;
  /** Its turn was taken back. */
  rewound?: boolean;
  /** Who asked for it, if that was recorded. */
  by?: string;
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

export interface MessagePage {
  messages: Row[];
  total: number;
  hasMore: boolean;
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

/**
 * The agent's state and the bookkeeping around it, under the names of the Helix state store.
 * Methods throw HelixError `not_found` for a session that does not exist unless they say otherwise.
 */
export interface SessionDocuments {
  /** Everything about a session, read at one moment; null if there is none. */
  load: (sessionId: string) => Promise<SessionState | null>;
  /**
   * Replaces the custom state if it is still the version that was loaded.
   *
   * @throws StaleStateError otherwise; nothing is changed then
   */
  save: (sessionId: string, state: VersionedState) => Promise<{ version: number }>;
  /** Rows of the transcript; `limit` defaults to 50. An unknown session has none. */
  getMessages: (
    sessionId: string,
    page?: { offset?: number; limit?: number },
  ) => Promise<MessagePage>;
  getCurrentRun: (sessionId: string) => Promise<RunInfo | null>;
  /** Oldest first. */
  listRuns: (sessionId: string) => Promise<RunInfo[]>;
  /** Null if this session has no such checkpoint. */
  getCheckpoint: (
    sessionId: string,
    checkpointId: string,
  ) => Promise<(Checkpoint & { customState: CustomState }) | null>;
  getLatestCheckpoint: (sessionId: string) => Promise<Checkpoint | null>;
  listCheckpoints: (
    sessionId: string,
    page?: { limit?: number; cursor?: string },
  ) => Promise<CheckpointPage>;
  /** Keeps a call's changes until its step is promoted; the same call's earlier ones are replaced. */
  stageChanges: (
    sessionId: string,
    stepId: string,
    changes: Omit<StagedChanges, 'timestamp'>,
  ) => Promise<void>;
  /**
   * Applies a step's staged changes in the order in which they were staged, all or none.
   *
   * @throws HelixError `invalid_patch` if one does not fit the state; everything stays staged
   */
  promoteStaging: (sessionId: string, stepId: string) => Promise<PromotedState>;
  /**
   * Applies the staged changes of all steps, one call after another. Changes that do not fit what
   * other calls did meanwhile are made to fit, so none holds up the run: what is missing is put
   * there, and what is to go may be gone.
   */
  promoteSettled: (sessionId: string) => Promise<PromotedState>;
  /**
   * The custom state, with what settled calls have staged. `turn`: as it was when the turn began,
   * before anything that the turn's stream tells of.
   */
  readState: (sessionId: string, at?: 'now' | 'turn') => Promise<VersionedState>;
  /** Drops a step's staged changes; returns whose they were. */
  discardStaging: (sessionId: string, stepId: string) => Promise<string[]>;
  getPendingCalls: (sessionId: string) => Promise<Record<string, PendingCall>>;
  getSuspensionContext: (sessionId: string) => Promise<SuspensionContext | null>;
  getInterruptRecord: (sessionId: string) => Promise<InterruptRecord | null>;
  /** Erases the session and its stream; readers see the end. Harmless when there is none. */
  delete: (sessionId: string) => Promise<void>;
}

export interface PromotedState extends VersionedState {
  /** Calls whose changes were taken. */
  toolCallIds: string[];
}
