import type { Row } from '../../protocol/rows.js';
import type { Decoded } from '../../session/input.js';
import type {
  Claim,
  Claimed,
  Commit,
  CommitReply,
  Compact,
  CompactReply,
  Discard,
  DiscardReply,
  NotClaimed,
} from '../../session/steps.js';
import type { HandOver, HandOverReply, TakeOver, TakeOverReply } from '../../session/writers.js';
import type { StateRead } from './documents.js';

export type { AttemptBudget } from '../../session/input.js';
export type {
  Commit as CommitInput,
  CommitReply as CommitResult,
  Discard as DiscardInput,
  DiscardReply as DiscardResult,
  Fallback,
} from '../../session/steps.js';
export type {
  HandOver as HandOverInput,
  TakeOver as TakeOverInput,
  TakeOverReply as TakeOverResult,
} from '../../session/writers.js';

/** Steps: each is claimed by one attempt at a time, which commits or discards it. */
export interface Steps {
  /** Makes a writer the owner of a step and withdraws what earlier attempts wrote. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /**
   * Stores a step's reply, opens its calls, and pauses or ends the run if nothing else can be done.
   */
  commit: (input: Commit) => Promise<CommitReply>;
  /** Withdraws what this attempt wrote and counts a failure of the provider. */
  discard: (input: Discard) => Promise<DiscardReply>;
  /**
   * Keeps the summary that the step's model gets in place of the oldest rows: the first one of a step
   * counts. Without `compaction` it only reads.
   */
  compact: (input: Compact) => Promise<Decoded<CompactReply>>;
  /**
   * Reports that an attempt at a step or call ends without a result, so it does not count as lost.
   * An attempt that was taken over while alive is forgiven.
   */
  handOver: (input: HandOver) => Promise<HandOverReply>;
  /** Makes the caller the owner of a writer that does not answer; what the writer wrote stays. */
  takeOver: (input: TakeOver) => Promise<TakeOverReply>;
}

export interface ClaimInput extends Claim {
  /** What the step needs of its session: read in the same moment, as far as it is not too long. */
  wants?: {
    /** The agent's own state. */
    state: boolean;
    /** The caller has this many rows of the session that was born then. */
    born: string;
    rows: number;
  };
}

export type ClaimResult =
  | (Claimed & {
      /** Rows from this index on, if they were wanted. */
      fresh?: { from: number; rows: Row[] };
      /** The agent's own state, if it was wanted. */
      state?: StateRead;
    })
  | NotClaimed;
