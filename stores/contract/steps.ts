import type { FinishReason, StreamMessage } from '../../protocol/chunk.js';
import type { Row } from '../../protocol/rows.js';
import type { RunError, StepOutcome, StopRequest, TerminalStatus } from '../../protocol/run.js';
import type { NewCall } from './call-record.js';
import type { Writer } from './log.js';
import type { RunUsage } from './runs.js';

/** Steps: each is claimed by one attempt at a time, which commits or discards it. */
export interface Steps {
  /** Makes a writer the owner of a step; withdraws what earlier attempts left. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /** Stores a step's reply, opens its calls, and pauses or ends the run if nothing else is to do. */
  commit: (input: CommitInput) => Promise<CommitResult>;
  /** Withdraws what this attempt wrote, and counts a failure of the provider. */
  discard: (input: DiscardInput) => Promise<DiscardResult>;
  /**
   * An attempt at a step or a call ends without a result, and says so: it does not count as lost. One
   * that was taken over while it lived is forgiven.
   */
  handOver: (input: HandOverInput) => Promise<HandOverResult>;
  /** Makes the caller the owner of a writer that does not answer; what that one wrote stays. */
  takeOver: (input: TakeOverInput) => Promise<TakeOverResult>;
}

export interface ClaimInput {
  writer: Writer;
  /** Highest sequence that the run was told of; a store that has less was restored. */
  known: number;
  now: number;
  /** How many attempts may be lost. Default: five within an hour. */
  budget?: AttemptBudget;
  /** What a token that the model says costs, in millionths of a dollar: what lost attempts said counts. */
  perToken?: number;
}

/** An attempt is lost if it ended without a hand-over: its process died with it, or it outlived its time. */
export interface AttemptBudget {
  most: number;
  /** Those before that do not count, ms. */
  withinMs: number;
}

export interface HandOverInput {
  writer: Writer;
  /** The call whose execution ends; absent for a model's step. */
  toolCallId?: string;
  /**
   * `left`: the worker goes, an engine is away, or the attempt was judged dead: it was no execution.
   * `retry`: the tool failed and is to be executed again. `fault`: the code threw, which counts as lost.
   */
  how: 'left' | 'retry' | 'fault';
}

export type HandOverResult =
  /** `lost`: attempts that count by now. */
  { kind: 'handed_over'; lost: number } | { kind: 'not_owner' } | { kind: 'superseded' };

export type ClaimResult =
  | {
      kind: 'claimed';
      rowCount: number;
      sequence: number;
      /** Provider failures of this step so far. */
      failures: number;
      /** Time since the first of them, by the store's clock, ms; 0 if there is none. */
      failingForMs: number;
      /** After how many of them nobody worked on the run until the provider was asked again. */
      waits: number;
      messageId: string;
      /** Another one means that rows which were read before are no longer these. */
      born: string;
      /** Calls were made that have no row any more: ask `calls.takeId` for ids. */
      hasDroppedCalls?: true;
      /** What the run has used so far; absent while nothing was told. */
      usage?: RunUsage;
    }
  /** Committed before, perhaps even later steps: the newest outcome. */
  | { kind: 'done'; outcome: StepOutcome }
  | { kind: 'stopped'; stop: StopRequest }
  | { kind: 'superseded' }
  | { kind: 'fenced' }
  | { kind: 'not_ready' }
  /** As many attempts as may be were lost: the run is to be ended. */
  | { kind: 'exhausted' }
  /** The store is older than the run: what it waits for, or the run itself, is not there. */
  | { kind: 'rewound' };

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

export interface DiscardInput {
  writer: Writer;
  /** Which failure of this step it is, from 1: the same one is counted once. */
  failure: number;
  reason: string;
  /** Nobody works on the run for so long: it waits for its provider. */
  waitMs?: number;
  /** What the provider says the failed call has used. */
  usage?: RunUsage;
  now: number;
}

export type DiscardResult =
  { kind: 'discarded'; failures: number } | { kind: 'superseded' } | { kind: 'fenced' };

/** Names a run's writer. */
export interface TakeOverInput {
  sessionId: string;
  runId: string;
  name: string;
}

export type TakeOverResult =
  /** `first`: sequence before the first entry of the attempt that was fenced off. */
  { kind: 'taken'; token: number; first: number } | { kind: 'nothing' } | { kind: 'superseded' };
