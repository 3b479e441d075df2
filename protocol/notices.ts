import type { TerminalStatus } from './run.js';

/**
 * What workflows, workers and clients say to each other about notices. Types and plain constants
 * only, since workflow code imports this file.
 */

/** What a notice says about a question, after `approval.` or `tool.`. */
type Stage = 'requested' | 'reminder' | 'escalated' | 'settled' | 'expired';

/**
 * What receivers are notified of. `approval` is a call that a person decides, `tool` one that a page
 * carries out.
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

/** One of the calls that a notice is about. */
export interface NoticeCall {
  toolCallId: string;
  toolName: string;
  /** ms since the epoch by the store's clock. */
  deadline?: number;
}

/** A notice without content: what it shows of an input is read when it is sent. */
export interface Notice {
  /** The same for every receiver and attempt, `webhook-id` of webhooks. */
  id: string;
  type: NoticeType;
  /** When it became due, ms since the epoch. */
  at: number;
  /** Of the conversation, as stored; absent in a test, and of what was spent. */
  sessionId?: string;
  runId?: string;
  agent?: string;
  tenant?: string;
  toolCallId?: string;
  toolName?: string;
  /** ms since the epoch by the store's clock. */
  deadline?: number;
  /** Where a notice is about several calls: each of them, the first ones if there are many. */
  calls?: readonly NoticeCall[];
  /** Further calls that it is about. */
  others?: number;
  /** How the question was settled: `approved`, `denied`, `answered`, `expired` or `closed`. */
  outcome?: string;
  /** Why a run, or a delivery, failed. */
  code?: string;
  /** A budget that is spent; `owner` if it is that of one user. */
  owner?: string;
  period?: 'day' | 'month';
  limitUsd?: number;
  usedUsd?: number;
  /** A delivery that failed, as operators know it, and its receiver. */
  delivery?: string;
  receiver?: string;
}

/** A wait of a run for people: the calls of one step. */
export interface WaitRef {
  /** Of the conversation, as stored. */
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
}

/** How the wait of a run was over; empty if that is unknown. */
export interface WaitOver {
  approved?: readonly string[];
  stopped?: boolean;
  /** When the run learnt of it, ms since the epoch. */
  at?: number;
}

/** A call about which receivers were notified. */
export interface AskedCall {
  toolCallId: string;
  toolName: string;
  kind: 'approval' | 'client';
  deadline?: number;
  /** When receivers were first notified, ms since the epoch. Absent before that. */
  askedAt?: number;
  /** The newest point of its schedule that was reached, ms after that. */
  done?: number;
}

/** What the notices of a wait know from one look at the record to the next. */
export interface WaitProgress {
  calls: readonly AskedCall[];
  /** How long the last look waited for a question that is not asked yet. */
  heldMs?: number;
}

/** Argument of the activity that looks at a wait. */
export interface WaitLook extends WaitRef {
  progress?: WaitProgress;
  over?: WaitOver;
}

/** Undefined once nothing is left to notify of. */
export type WaitOutlook = { progress: WaitProgress; againMs: number } | undefined;

/** The end of a run. */
export interface EndRef {
  sessionId: string;
  runId: string;
  agent: string;
  status: TerminalStatus;
  code?: string;
}

/** One notice to one receiver: argument of `deliver`. */
export interface Delivery {
  notice: Notice;
  /** By name. */
  receiver: string;
  /** Tells the owners of conversations apart, and says nothing else of them. Absent: nobody's. */
  whose?: string;
  /** How long attempts are repeated, ms. */
  retryForMs: number;
}

/** A delivery that failed for good, and why. */
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
  /** One attempt. */
  sendNotice: (delivery: Delivery) => Promise<void>;
}
