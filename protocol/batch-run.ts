import type { Channel, Role } from './actor.js';
import type { StopMode } from './run.js';

/** What the workflow of a batch and its activity exchange: types only, since workflow code imports this file. */

/** One act on many runs or calls. */
export type BatchAct = 'stop' | 'approve' | 'deny' | 'retry';

/** The run, and the call that is answered. */
export type BatchItem = readonly [runId: string, toolCallId?: string];

/** Who began the batch: each act is theirs. */
export interface BatchActor {
  userId: string;
  tenantId?: string | undefined;
  roles?: readonly Role[] | undefined;
  via: Channel;
  /** As of `Responder`. */
  isEveryone?: boolean | undefined;
}

/** What is the same for all acts of a batch. */
export interface BatchOrder {
  batchId: string;
  act: BatchAct;
  actor: BatchActor;
  reason?: string | undefined;
  /** For `stop`. */
  mode?: StopMode | undefined;
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

export interface BatchInput extends BatchOrder {
  items: readonly BatchItem[];
  /** What was decided before the batch began. */
  counts: BatchCounts;
}

export interface BatchPageRef extends BatchOrder {
  /** Number of the first item within the batch. */
  first: number;
  items: readonly BatchItem[];
}

/** What became of the first items of a page; fewer than all after a cancel. */
export interface BatchPart extends Omit<BatchCounts, 'total'> {
  tried: number;
}

export interface BatchActivities {
  /** Acts on some items, at the pace of the batch. */
  batchPage: (ref: BatchPageRef) => Promise<BatchPart>;
}
