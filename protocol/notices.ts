import type { RunRef, TerminalStatus } from './run.js';

/**
 * Types that workflows, workers and clients exchange about notices. Types and plain constants only,
 * since workflow code imports this file.
 */

/** Stage of a question: the part of a notice's type after `approval.` or `tool.`. */
type Stage = 'requested' | 'reminder' | 'escalated' | 'settled' | 'expired';

/**
 * Events that receivers are notified of. `approval` is a call that a person decides, `tool` one
 * that a page executes.
 */
export const NOTICE_TYPES = [
  'approval.requested',
  'approval.reminder',
  'approval.escalated',
  'approval.settled',
  'approval.expired',
  'tool.requested',
  'tool.reminder',
  'tool.escalated',
  'tool.settled',
  'tool.expired',
  'run.completed',
  'run.failed',
  'run.stopped',
  'spend.exceeded',
  'delivery.failed',
  'test',
] as const satisfies readonly (
  | `${'approval' | 'tool'}.${Stage}`
  | `run.${string}`
  | ('spend.exceeded' | 'delivery.failed' | 'test')
)[];
export type NoticeType = (typeof NOTICE_TYPES)[number];

export interface NoticeCall {
  toolCallId: string;
  toolName: string;
  deadline?: number;
}

/** A notice without content; the input that it shows is read when it is sent. */
export interface Notice {
  /** Shared by all receivers and attempts; the `webhook-id` of webhooks. */
  id: string;
  type: NoticeType;
  at: number;
  /** Stored id; absent in tests and in notices about budgets. */
  sessionId?: string;
  runId?: string;
  agent?: string;
  tenant?: string;
  toolCallId?: string;
  toolName?: string;
  deadline?: number;
  /** The calls of a notice about several; only the first ones if there are many. */
  calls?: readonly NoticeCall[];
  others?: number;
  /** Outcome of the question: `approved`, `denied`, `answered`, `expired` or `closed`. */
  outcome?: string;
  /** Error code of a failed run or delivery. */
  code?: string;
  /** A spent budget; `owner` is set if it is one user's. */
  owner?: string;
  period?: 'day' | 'month';
  limitUsd?: number;
  usedUsd?: number;
  /** A failed delivery, by its shown id, and its receiver. */
  delivery?: string;
  receiver?: string;
}

/** A wait of a run for people: the calls of one step. */
export interface WaitRef extends RunRef {
  step: number;
}

/** End of a run's wait; empty if its cause is unknown. */
export interface WaitOver {
  approved?: readonly string[];
  stopped?: boolean;
  /** Time at which the run learnt of the end, ms since the epoch. */
  at?: number;
}

/** A call about which receivers were notified. */
export interface AskedCall {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  deadline?: number;
  /** Time of the first notice, ms since the epoch; absent before it. */
  askedAt?: number;
  /** The newest point of the notice schedule that was reached, ms after `askedAt`. */
  done?: number;
}

/** State that the notices of a wait keep between looks at the record. */
export interface WaitProgress {
  calls: readonly AskedCall[];
  /** Time that the last look waited for a question that is not asked yet, ms. */
  heldMs?: number;
}

export interface WaitLook extends WaitRef {
  progress?: WaitProgress;
  over?: WaitOver;
}

/** Undefined once nothing is left to notify of. */
export type WaitOutlook = { progress: WaitProgress; againMs: number } | undefined;

export interface EndRef extends RunRef {
  status: TerminalStatus;
  code?: string;
}

/** One notice to one receiver: argument of `deliver`. */
export interface Delivery {
  notice: Notice;
  receiver: string;
  /** Opaque key of the conversation's owner; absent if it has none. */
  whose?: string;
  /** Time limit of retries, ms. */
  retryForMs: number;
}

export interface FailedDelivery {
  notice: Notice;
  receiver: string;
  code: string;
}

export interface NoticeActivities {
  announceWait: (look: WaitLook) => Promise<WaitOutlook>;
  announceEnd: (end: EndRef) => Promise<void>;
  /** Notifies the other receivers. */
  announceFailure: (failed: FailedDelivery) => Promise<void>;
  sendNotice: (delivery: Delivery) => Promise<void>;
}
