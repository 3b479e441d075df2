import type { FinishReason } from '../protocol/chunk.js';
import type { Decision, Row } from '../protocol/rows.js';
import type {
  CallKind,
  OnExpiry,
  ChildRef,
  Resumption,
  RunError,
  RunMode,
  RunStatus,
  StopMode,
  StopRequest,
  StreamStatus,
} from '../protocol/run.js';
import type { QueuedEntry } from './queued-entry.js';

/** What the store tells of a session. */

/** What was asked for, as committed; the only authority for an execution. */
export interface CallSpec {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  runId: string;
  step: number;
  approvalId?: string;
  /** How long people may take to answer, from the pause on. */
  deadlineMs?: number;
  /** What becomes of the call when nobody answers in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without asking anybody. */
  decision?: Decision;
  /** The run that carries out a call of kind `subagent`. */
  child?: ChildRef;
}

export type CallState = 'open' | 'waiting' | 'approved' | 'started' | 'settled';

/** A call of the newest committed step that no later step has taken in yet. */
export interface OpenCall {
  spec: CallSpec;
  state: CallState;
  /** Present once settled. */
  row?: Row;
  decision?: Decision;
  /** Sequence of the pause that asked. */
  askedAt?: number;
  /** ms since the epoch by the store's clock. */
  deadline?: number;
  /** Nobody has been asked yet: that waits until the conversation pauses. */
  held?: boolean;
}

/** How a run was stopped. */
export interface InterruptRecord {
  runId: string;
  mode: StopMode;
  reason?: string;
  by?: string;
  /** ms since the epoch. */
  at: number;
  checkpointId: string | null;
}

/** What a run's model calls have used, those of discarded attempts included. Fields at 0 are absent. */
export interface RunUsage {
  inputTokens: number;
  outputTokens: number;
  /** Part of `inputTokens`: read from the provider's cache. */
  cachedTokens?: number;
  /** Part of `inputTokens`: written to the provider's cache. */
  cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  reasoningTokens?: number;
  /** Millionths of a dollar, by the agent's `pricing`. */
  costMicroUsd?: number;
}

export interface SessionRecord {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  createdAt: number;
  updatedAt: number;
  /** Sequence of the newest entry. */
  sequence: number;
  turn: number;
  /** The newest run. */
  runId: string;
  status: RunStatus;
  stream: StreamStatus;
  messageId: string;
  turnStartSequence: number;
  /** Index of the turn's first row. */
  turnStartRow: number;
  runStartedAt: number;
  runMode: RunMode;
  /** Who asked for the newest run, if that was recorded. */
  runBy?: string;
  /** Sequence before the newest run's first entry; that of the turn unless the turn had a run before. */
  runStartSequence: number;
  /** Step of the turn behind which the newest run goes on; 0 if it began the turn. */
  runFromStep: number;
  committedStep: number;
  /** Step that a writer owns or owned last. */
  claimedStep: number;
  /** Sequence at the newest pause. */
  pauseSequence: number;
  /** Earliest deadline of the calls that wait, ms since the epoch by the store's clock. */
  deadline?: number;
  checkpointId?: string;
  error?: RunError;
  stop?: StopRequest;
  /** Set from the answer that completed a batch until the next step is claimed. */
  resume?: Resumption;
  /** True once a call that those answers approved has started: the wake-up has arrived. */
  resumeTaken?: boolean;
  /** Turn of which an active snapshot was handed out within the last 60 s. */
  activeSnapshotTurn?: number;
  /** Version of the agent's own state; 0 until it is first saved. */
  stateVersion: number;
  /** Its version when the turn began; present once the turn's first step is committed. */
  turnStateVersion?: number;
  /** What the newest run has used. */
  usage?: RunUsage;
  /** Why the model ended its newest committed reply of this run. */
  finishReason?: FinishReason;
  /** The result of the newest run, once its model has handed it in. */
  output?: unknown;
  /** How the newest run was stopped. */
  interrupted?: InterruptRecord;
  /** Runs of sub-agents that answers let go on, until they do. */
  wakes?: Wake[];
  /** The call that a sub-agent's session was made for. */
  parent?: { sessionId: string; runId: string; toolCallId: string };
  /** Of a sub-agent's: steps that its conversation has committed. */
  conversationStep?: number;
  /** Changes when the session is rewound; tells it from an erased one of the same id, too. */
  born: string;
  /** How many entries wait for their turn. */
  queued: number;
}

export interface SessionView {
  record: SessionRecord;
  rows: Row[];
  openCalls: OpenCall[];
  /** In the order in which they are answered. */
  queue: QueuedEntry[];
}

/** A session and the calls of its newest step, without the transcript. */
export type SessionCalls = Pick<SessionView, 'record' | 'openCalls'>;

/** A run that answers let go on. */
export interface Wake {
  sessionId: string;
  runId: string;
  resume: Resumption;
}
