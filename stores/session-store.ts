import type { StreamMessage } from '../protocol/chunk.js';
import type { Decision, Row } from '../protocol/rows.js';
import type {
  CallKind,
  Resumption,
  RunError,
  RunStatus,
  StepOutcome,
  StopRequest,
  StreamStatus,
  TerminalStatus,
} from '../protocol/run.js';

/**
 * The record of sessions. Every transition is one atomic step, decides in the order *already done,
 * its first result; stop record; fence; expected state*, and may be repeated: a client that was cut
 * off after sending gets the first result again.
 */
export interface SessionStore {
  /** Accepts user messages and makes a run for them. The only transition that creates a session. */
  begin: (input: BeginInput) => Promise<BeginResult>;
  /** Makes a writer the owner of a step; withdraws what earlier attempts left. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /** Withdraws what this attempt wrote, and counts a failure of the provider. */
  discard: (input: DiscardInput) => Promise<DiscardResult>;
  /** Stores a step's reply, opens its calls, and pauses or ends the run if nothing else is to do. */
  commit: (input: CommitInput) => Promise<CommitResult>;
  /** Permission to execute a tool. */
  startCall: (input: StartCallInput) => Promise<StartCallResult>;
  /** The one result of a call, or the decision about it; the first one wins. */
  settleCall: (input: SettleCallInput) => Promise<SettleCallResult>;
  /** Leaves a stop record; a run in which no model speaks ends at once. */
  stop: (sessionId: string, stop: StopRequest & { runId?: string }) => Promise<StopResult>;
  /** Ends a run: run, session and stream become terminal together. */
  end: (input: EndInput) => Promise<EndResult>;

  /** The session's record, or undefined. One read, consistent in itself. */
  load: (sessionId: string) => Promise<SessionRecord | undefined>;
  /** Rows `from` (inclusive, 0-based) up to `to` (exclusive; all when absent). */
  readRows: (sessionId: string, from: number, to?: number) => Promise<Row[]>;
  /** Everything a snapshot is made of, read at one moment. */
  readView: (sessionId: string) => Promise<SessionView | undefined>;
  /** One call of the newest committed step, or undefined once a later step has taken it in. */
  readCall: (sessionId: string, toolCallId: string) => Promise<OpenCall | undefined>;
  /** Which of these user message ids the session has accepted. */
  acceptedMessages: (sessionId: string, ids: string[]) => Promise<string[]>;
  /** Remembers that a snapshot of an active turn was handed out (60 s). */
  noteActiveSnapshot: (sessionId: string, turn: number) => Promise<void>;
  /** Sessions whose run may need attention, oldest first; they are not due again for `forMs`. */
  dueSessions: (limit: number, forMs: number) => Promise<string[]>;
  /** Puts a session on that list, due in `inMs`; written before `begin`, so that no run is unknown. */
  noteDue: (sessionId: string, inMs: number) => Promise<void>;
  /** Takes a session off that list. */
  forgetDue: (sessionId: string) => Promise<void>;
  /** True if this holder may sweep for the next `forMs`. */
  leaseSweep: (holder: string, forMs: number) => Promise<boolean>;
}

export interface UserMessage {
  id: string;
  /** Hash of the content: an accepted id with other content is a conflict. */
  hash: string;
  row: Row;
  hidden: boolean;
}

export interface BeginInput {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Random part of the new run's id. */
  nonce: string;
  messages: UserMessage[];
  now: number;
}

export type BeginResult =
  | { kind: 'begun'; run: RunRecord }
  /** Every message was accepted before. */
  | { kind: 'accepted' }
  | { kind: 'busy' }
  | { kind: 'conflict'; messageId: string }
  | { kind: 'agent_mismatch'; agent: string }
  /** The session belongs to somebody else. */
  | { kind: 'foreign' };

export interface RunRecord {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  /** UI message id of the turn's reply. */
  messageId: string;
  /** Sequence before the turn's first chunk. */
  startSequence: number;
  startedAt: number;
  /** A run that gave way to this one by abandonment; its workflow is to be woken. */
  supersededRunId?: string;
}

/** Identity of a writer: a higher token fences lower ones off. */
export interface Writer {
  sessionId: string;
  runId: string;
  /** `m<step>` or `t:<toolCallId>`. */
  name: string;
  token: number;
  /** Who speaks: the base fields of the chunks that the store writes by itself. */
  agentType: string;
  step: number;
}

export interface ClaimInput {
  writer: Writer;
  now: number;
}

export type ClaimResult =
  | {
      kind: 'claimed';
      rowCount: number;
      sequence: number;
      /** Provider failures of this step so far. */
      failures: number;
      messageId: string;
    }
  /** Committed before, perhaps even later steps: the newest outcome. */
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'not_ready' };

export interface DiscardInput {
  writer: Writer;
  /** Which failure of this step it is, from 1: the same one is counted once. */
  failure: number;
  reason: string;
  now: number;
}
export type DiscardResult =
  { kind: 'discarded'; failures: number } | { kind: 'superseded' } | { kind: 'fenced' };

/** A call that a step opens. */
export interface NewCall {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  /** Settled from the start: an invalid or unknown call, or one that a stop overtook. */
  row?: Row;
  timeoutMs?: number;
  /** May be executed again when it had started on a worker that was lost. */
  idempotent?: boolean;
}

export interface CommitInput {
  writer: Writer;
  row?: Row;
  calls: NewCall[];
  /** Written with the row, in this order, before anything the store adds. */
  chunks: StreamMessage[];
  outcome: StepOutcome;
  checkpointId: string;
  /** Ends the run in the same step. */
  final?: { status: TerminalStatus; error?: RunError };
  /** True when this is the answer to a stop record. */
  answersStop: boolean;
  now: number;
}

export type CommitResult =
  | { kind: 'committed'; sequence: number; paused: boolean }
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' };

export interface StartCallInput {
  writer: Writer;
  toolCallId: string;
  now: number;
}

export type StartCallResult =
  | { kind: 'execute'; call: CallSpec; execution: number }
  | { kind: 'settled' }
  | { kind: 'stopped' }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  /** Not approved, or not a call of this run. */
  | { kind: 'refused' };

/** What was asked for, as committed; the only authority for an execution. */
export interface CallSpec {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  runId: string;
  step: number;
  approvalId?: string;
  timeoutMs?: number;
}

export type SettleCallInput =
  | {
      source: 'tool';
      writer: Writer;
      toolCallId: string;
      row: Row;
      chunks: StreamMessage[];
      now: number;
    }
  | {
      source: 'approval';
      sessionId: string;
      agentType: string;
      toolCallId: string;
      /** The run that asked. */
      runId: string;
      decision: Decision;
      /** Present when denied: the call's result. */
      row?: Row;
      chunks: StreamMessage[];
      now: number;
    };

export type SettleCallResult =
  /** Stored; `resume` if it was the last answer of its batch. */
  | { kind: 'stored'; sequence: number; resume?: Resumption }
  | { kind: 'already_completed' }
  | { kind: 'not_pending' }
  | { kind: 'kind_mismatch' }
  | { kind: 'stale_run' }
  | { kind: 'fenced' };

export type StopResult =
  /** Nothing runs. */
  | { kind: 'nothing' }
  /** A model speaks: it will confirm. */
  | { kind: 'stopping'; runId: string }
  | { kind: 'ended'; runId: string };

export interface EndInput {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that nobody committed. */
  row?: Row;
  /** Also when a writer is still at work: it is fenced off. */
  now: number;
}
export type EndResult = { kind: 'ended'; status: TerminalStatus } | { kind: 'superseded' };

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
  committedStep: number;
  /** Step that a writer owns or owned last. */
  claimedStep: number;
  /** Sequence at the newest pause. */
  pauseSequence: number;
  checkpointId?: string;
  error?: RunError;
  stop?: StopRequest;
  /** Set from the answer that completed a batch until the next step is claimed. */
  resume?: Resumption;
  /** Turn of which an active snapshot was handed out within the last 60 s. */
  activeSnapshotTurn?: number;
}

export interface SessionView {
  record: SessionRecord;
  rows: Row[];
  openCalls: OpenCall[];
}
