import type { BusyPolicy } from '../protocol/busy.js';
import type { FinishReason, StreamChunk, StreamMessage } from '../protocol/chunk.js';
import type { Decision, Row } from '../protocol/rows.js';
import type {
  CallKind,
  OnExpiry,
  ChildRef,
  ParentRef,
  RunError,
  RunProgress,
  StepOutcome,
  StopRequest,
  TerminalStatus,
} from '../protocol/run.js';
import type { UserMessage } from './queued-entry.js';
import type { RunUsage } from './session-record.js';
import type { CustomState } from './session-state.js';

/** Inputs and results of the transitions; what they mean stands at SessionStore. */

export interface BeginInput {
  sessionId: string;
  agent: string;
  owner: string;
  tenant?: string;
  /** Random part of the new run's id. */
  nonce: string;
  messages: UserMessage[];
  /** What becomes of the messages while a run is at work, or others wait. Default: refused. */
  policy?: BusyPolicy;
  /** Who sends them, for whoever looks at the queue. */
  by?: string;
  /** Replaces the agent's own state together with the run's beginning; nothing does if none begins. */
  state?: CustomState;
  /** Present when the messages were given to go on after a run that has ended. */
  resumed?: { by?: string };
  now: number;
}

export type BeginResult =
  | { kind: 'begun'; run: RunRecord }
  /**
   * The messages wait for their turn, whose first entry comes after `sequence`. `begun` is a run
   * that was made for messages before them.
   */
  | { kind: 'queued'; sequence: number; begun?: RunRecord }
  /** This run takes them in; what answers them begins after `sequence`. */
  | { kind: 'steered'; runId: string; sequence: number }
  /** This run is told to stop; the messages are answered next. */
  | { kind: 'interrupting'; runId: string; sequence: number }
  | { kind: 'queue_full' }
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
  /** A run that gave way to this one, by abandonment or an interrupt; its workflow is to be woken. */
  supersededRunId?: string;
  /** Present on a run that goes on with a turn: what was there before it. */
  from?: RunProgress;
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
  /** Default: the session's id. */
  agentId?: string;
  step: number;
}

export interface ClaimInput {
  writer: Writer;
  /** Highest sequence that the run was told of; a store that has less was restored. */
  known: number;
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
      /** Another one means that rows which were read before are no longer these. */
      born: string;
      /** Ids of all calls ever, if some of them have no row any more. */
      usedCalls?: string[];
      /** What the run has used so far; absent while nothing was told. */
      usage?: RunUsage;
    }
  /** Committed before, perhaps even later steps: the newest outcome. */
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'not_ready' }
  /** The store is older than the run: what it waits for, or the run itself, is not there. */
  | { kind: 'rewound' };

export interface DiscardInput {
  writer: Writer;
  /** Which failure of this step it is, from 1: the same one is counted once. */
  failure: number;
  reason: string;
  /** What the provider says the failed call has used. */
  usage?: RunUsage;
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
  /** Longest time for one execution. */
  timeoutMs?: number;
  /** How long a person or client may take to answer, from the pause on. */
  deadlineMs?: number;
  /** What becomes of it when nobody answers in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without asking anybody; the call is carried out as the server's own. */
  decision?: Decision;
  /** May be executed again when it had started on a worker that was lost. */
  idempotent?: boolean;
  /** Of kind `subagent`: the run that carries it out, and the message that this begins with. */
  child?: ChildRef & { message: string };
  /** The chunk that asks people; kept back until the conversation pauses, and written then. */
  ask?: StreamChunk;
}

export interface CommitInput {
  writer: Writer;
  /** Highest sequence that the writer was told of. */
  known: number;
  row?: Row;
  calls: NewCall[];
  /** Written with the row, in this order, before anything the store adds. */
  chunks: StreamMessage[];
  outcome: StepOutcome;
  checkpointId: string;
  /** What the model call has used; added to the run's totals. */
  usage?: RunUsage;
  finishReason?: FinishReason;
  /** The result that the model handed in: written by the transition that ends the run. */
  output?: unknown;
  /** Ends the run in the same step. */
  final?: { status: TerminalStatus; error?: RunError };
  /** True when this is the answer to a stop record. */
  answersStop: boolean;
  now: number;
}

export type CommitResult =
  /** `next`: the run has ended and messages wait for their turn. */
  | { kind: 'committed'; sequence: number; paused: boolean; next?: true }
  /** Stored, but the run does not end: messages came that its next step takes in. */
  | { kind: 'steered'; sequence: number }
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'rewound' };

export interface BeginChildInput {
  child: Pick<ChildRef, 'sessionId' | 'runId' | 'agent'>;
  parent: Pick<ParentRef, 'sessionId' | 'runId' | 'toolCallId'>;
  now: number;
}

export interface BeginChildResult {
  /**
   * `limit`: too many sub-agents; the session is made, and its run has failed. `refused`: there is
   * no such call, or it is not this sub-agent's.
   */
  kind: 'begun' | 'limit' | 'superseded' | 'refused';
}

export type StopResult =
  /** Nothing runs. */
  | { kind: 'nothing' }
  /** A model speaks: it will confirm. */
  | { kind: 'stopping'; runId: string }
  /** `next`: messages wait for their turn. */
  | { kind: 'ended'; runId: string; next?: true };

/** Names a run's writer. */
export interface TakeOverInput {
  sessionId: string;
  runId: string;
  name: string;
}
export type TakeOverResult =
  /** `first`: sequence before the first entry of the attempt that was fenced off. */
  { kind: 'taken'; token: number; first: number } | { kind: 'nothing' } | { kind: 'superseded' };

export interface EndInput {
  sessionId: string;
  runId: string;
  agentType: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Partial reply that nobody committed. */
  row?: Row;
  /** Highest sequence that the run was told of: what follows is numbered above it. */
  floor?: number;
  /** Also when a writer is still at work: it is fenced off. */
  now: number;
}
export type EndResult =
  /** `next`: messages wait for their turn. */
  { kind: 'ended'; status: TerminalStatus; next?: true } | { kind: 'superseded' };
