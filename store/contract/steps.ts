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
export type { HandOver as HandOverInput } from '../../session/writers.js';

/** Steps: each is claimed by one attempt at a time, which commits or discards it. */
export interface Steps {
  /** Makes a writer the owner of a step and withdraws what earlier attempts wrote. */
  claim: (input: ClaimInput) => Promise<ClaimResult>;
  /** Stores a step's reply, opens its calls, and pauses or ends the run if no other work remains. */
  commit: (input: Commit) => Promise<CommitReply>;
  /** Withdraws what this attempt wrote and counts a failure of the provider. */
  discard: (input: Discard) => Promise<DiscardReply>;
  /** Keeps the summary that replaces a step's oldest rows; the first one counts. */
  compact: (input: Compact) => Promise<Decoded<CompactReply>>;
  /** Reports that an attempt ends without a result, so it does not count as lost. */
  handOver: (input: HandOver) => Promise<HandOverReply>;
  /** Makes the caller the owner of a writer that does not answer. */
  takeOver: (input: TakeOver) => Promise<TakeOverReply>;
}

export interface ClaimInput extends Claim {
  /** Session data that the step needs, read at the same moment unless it is too long. */
  wants?: {
    /** The agent's own state. */
    state: boolean;
    /** The caller already has this many rows of the session with this `born`. */
    born: string;
    rows: number;
  };
}

export type ClaimResult =
  | (Claimed & {
      /** Rows from this index on, if requested. */
      fresh?: { from: number; rows: Row[] };
      /** The agent's own state, if requested. */
      state?: StateRead;
    })
  | NotClaimed;
