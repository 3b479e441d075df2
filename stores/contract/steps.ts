import type { FinishReason, StreamMessage } from '../../protocol/chunk.js';
import type { Compaction, Row } from '../../protocol/rows.js';
import type { RunError, StepOutcome, StopRequest, TerminalStatus } from '../../protocol/run.js';
import type { NewCall } from './call-record.js';
import type { StateRead } from './staging.js';
import type { Writer } from './log.js';
import type { RunUsage } from './runs.js';

/** Steps: each is claimed by one attempt at a time, which commits or discards it. */
export interface Steps {
  /** Makes a writer the owner of a step and withdraws what earlier attempts wrote. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /**
   * Stores a step's reply, opens its calls, and pauses or ends the run if nothing else can be done.
   */
  commit: (input: CommitInput) => Promise<CommitResult>;
  /** Withdraws what this attempt wrote and counts a failure of the provider. */
  discard: (input: DiscardInput) => Promise<DiscardResult>;
  /**
   * Keeps the summary that the step's model gets in place of the oldest rows: the first one of a step
   * counts. Without `compaction` it only reads.
   */
  compact: (input: CompactInput) => Promise<CompactResult>;
  /**
   * Reports that an attempt at a step or call ends without a result, so it does not count as lost.
   * An attempt that was taken over while alive is forgiven.
   */
  handOver: (input: HandOverInput) => Promise<HandOverResult>;
  /** Makes the caller the owner of a writer that does not answer; what the writer wrote stays. */
  takeOver: (input: TakeOverInput) => Promise<TakeOverResult>;
}

export interface ClaimInput {
  writer: Writer;
  /**
   * Highest sequence that the run has seen; a store that is behind it was restored from a backup.
   */
  known: number;
  now: number;
  /** How many attempts may be lost. Default: five within an hour. */
  budget?: AttemptBudget;
  /**
   * Price of an output token in millionths of a dollar; the output of lost attempts is charged to
   * the run.
   */
  perToken?: number;
  /** What the step needs of its session: read in the same moment, as far as it is not too long. */
  wants?: {
    /** The agent's own state. */
    state: boolean;
    /** The caller has this many rows of the session that was born then. */
    born: string;
    rows: number;
  };
}

/**
 * An attempt is lost if it ended without handing over: its process died or it exceeded its time
 * limit.
 */
export interface AttemptBudget {
  most: number;
  /** Only attempts lost within this time count, ms. */
  withinMs: number;
}

export interface HandOverInput {
  writer: Writer;
  /** The call that was being executed; absent for a model step. */
  toolCallId?: string;
  /**
   * `left`: the worker shuts down, an engine is unavailable, or the attempt was wrongly judged
   * dead; it does not count as an execution. `retry`: the tool failed and will be executed again.
   * `fault`: our code threw, which counts as lost.
   */
  how: 'left' | 'retry' | 'fault';
}

export type HandOverResult =
  /** `lost`: number of attempts that count now. */
  { kind: 'handed_over'; lost: number } | { kind: 'not_owner' } | { kind: 'superseded' };

export type ClaimResult =
  | {
      kind: 'claimed';
      rowCount: number;
      sequence: number;
      /** Number of provider failures in this step so far. */
      failures: number;
      /** Time since the first failure by the store's clock, ms; 0 without failures. */
      failingForMs: number;
      /** After how many of them the run waited outside of an activity for its provider. */
      waits: number;
      /** The model that an earlier attempt at the step has reached, once that is not the first. */
      fallback?: Fallback;
      messageId: string;
      /** If it changes, rows that were read before are no longer valid. */
      born: string;
      /** Some earlier calls have no row any more: get ids from `calls.takeId`. */
      hasDroppedCalls?: true;
      /** Usage of the run so far; absent if nothing was reported. */
      usage?: RunUsage;
      /** Rows from this index on, if they were wanted. */
      fresh?: { from: number; rows: Row[] };
      /** The agent's own state, if it was wanted. */
      state?: StateRead;
    }
  /** The step, perhaps also later ones, was committed before: the newest outcome. */
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'not_ready' }
  /** The budget of lost attempts is used up: the run must be ended. */
  | { kind: 'exhausted' }
  /** The store is older than the run: what the run waits for, or the run itself, does not exist. */
  | { kind: 'rewound' };

/** A model of an agent's list that stands in for those before it. */
export interface Fallback {
  /** Its place in the list, from 0. */
  index: number;
  /** Failures of the step before it was reached. */
  before: number;
}

export interface CommitInput {
  writer: Writer;
  /** Highest sequence that the writer has seen. */
  known: number;
  row?: Row;
  calls: NewCall[];
  /** Chunks written with the row, in this order, before those that the store adds. */
  chunks: StreamMessage[];
  outcome: StepOutcome;
  checkpointId: string;
  /** Usage of the model call, added to the totals of the run. */
  usage?: RunUsage;
  /** Name of the model, for the owner's usage. */
  model?: string;
  finishReason?: FinishReason;
  /** The result that the model submitted; written by the transition that ends the run. */
  output?: unknown;
  /** Ends the run in the same step. */
  final?: { status: TerminalStatus; error?: RunError };
  /** True if this commit was made because of a stop. */
  answersStop: boolean;
  now: number;
}

export type CommitResult =
  /** `next`: the run has ended and queued messages wait. */
  | { kind: 'committed'; sequence: number; paused: boolean; next?: true }
  /** Stored, but the run does not end: its next step reads messages that have arrived. */
  | { kind: 'steered'; sequence: number }
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'rewound' };

export interface DiscardInput {
  writer: Writer;
  /** Number of this failure within the step, from 1; a repeated request counts it once. */
  failure: number;
  reason: string;
  /** Place of the model that is asked next, if that is another one. */
  fallback?: number;
  /** How long the run waits for its provider, ms. */
  waitMs?: number;
  /** Usage of the failed call as the provider reports it. */
  usage?: RunUsage;
  now: number;
}

export type DiscardResult =
  { kind: 'discarded'; failures: number } | { kind: 'superseded' } | { kind: 'fenced' };

export interface CompactInput {
  writer: Writer;
  compaction?: Compaction;
  /** What the summary took, added to the totals of the run. */
  usage?: RunUsage;
}

export type CompactResult =
  | { kind: 'kept'; compaction: Compaction }
  | { kind: 'none' }
  | { kind: 'superseded' }
  | { kind: 'fenced' };

/** Names a run's writer. */
export interface TakeOverInput {
  sessionId: string;
  runId: string;
  name: string;
}

export type TakeOverResult =
  /** `first`: sequence before the first entry of the attempt that was fenced off. */
  { kind: 'taken'; token: number; first: number } | { kind: 'nothing' } | { kind: 'superseded' };
