import type { Channel, Role } from './actor.js';
import type { StopMode } from './run.js';

/** What the workflow of a batch and its activity exchange: types only, since workflow code imports this file. */

/** One act on many runs or calls. */
export type BatchAct = 'stop' | 'approve' | 'deny' | 'retry';

/** The run, and the call that is answered with the hash of its input as it was when the batch began. */
export type BatchItem = readonly [runId: string, toolCallId?: string, inputHash?: string];

/** Who began the batch: each act is theirs. */
export interface BatchActor {
  userId: string;
  tenantId?: string | undefined;
  roles?: readonly Role[] | undefined;
  personId?: string | undefined;
  via: Channel;
  /** As of `Responder`. */
  isEveryone?: boolean | undefined;
}

/** For whom and why a batch acts. */
export interface BatchTerms {
  actor: BatchActor;
  reason?: string | undefined;
  /** For `stop`. */
  mode?: StopMode | undefined;
}

/** What is the same for all acts of a batch. */
export interface BatchOrder {
  batchId: string;
  act: BatchAct;
  /** Acts a second. */
  rps: number;
}

/** An item that was refused, and why. */
export interface BatchProblem {
  /** `<run>` or `<run>::<call>`. */
  target: string;
  /** A code of HelixError. */
  code: string;
}

export interface BatchCounts {
  total: number;
  /** Items on which the batch has acted. */
  done: number;
  /** Items with which nothing was to be done any more: answered, ended or repeated by others. */
  skipped: number;
  /** Items of which the act was refused. */
  failed: number;
  /** The first of those. */
  problems: BatchProblem[];
}

/**
 * Temporal keeps what a workflow was given, so it is given no names: who acts, why and on what is in
 * Redis, where an erasure reaches it.
 */
export interface BatchInput extends BatchOrder {
  /** How many items there are. */
  size: number;
  /** What was decided before the batch began. */
  counts: BatchCounts;
}

/** Some items of a batch: `size` of them, beginning with the one at `from`. */
export interface BatchPageInput extends BatchOrder {
  /** Number of the first item within the batch, those before it that were refused included. */
  first: number;
  from: number;
  size: number;
}

export interface BatchPageRef extends BatchOrder, BatchTerms {
  /** As of `BatchPageInput`. */
  first: number;
  items: readonly BatchItem[];
}

/** What became of the first items of a page; fewer than all after a cancel. */
export interface BatchPart extends Omit<BatchCounts, 'total'> {
  tried: number;
}

export interface BatchActivities {
  /** Acts on some items, at the pace of the batch. */
  batchPage: (input: BatchPageInput) => Promise<BatchPart>;
  /** Forgets the names on which an ended batch has acted. */
  batchEnd: (batchId: string) => Promise<void>;
}
