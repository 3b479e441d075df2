/** Schedules, and what their workflows are started with: types only, since workflow code imports this file. */
import type { Trigger } from './run.js';

/**
 * What is done with a firing while the one before is not over: left out, kept until then (one of them),
 * begun after the other's run was stopped, or begun beside it.
 */
export const OVERLAPS = ['skip', 'buffer_one', 'cancel_other', 'allow_all'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/**
 * What is done with a firing while another run of its conversation is active: left out, begun once that
 * has ended, or left out unless that waits for people, whose questions are then withdrawn.
 */
export const WHEN_BUSY = ['skip', 'wait', 'abandon'] as const;
export type WhenBusy = (typeof WHEN_BUSY)[number];

/** Which run begins. */
export interface ScheduledRun {
  agent: string;
  message: string;
  /** Whose run it is. */
  owner: string;
  tenant?: string | undefined;
  /** The conversation that each firing continues, as its owner knows it. Default: a new one each time. */
  sessionId?: string | undefined;
  whenBusy: WhenBusy;
  /** Who has created the schedule: the runs are asked for by that person, too. Default: its owner. */
  by?: string | undefined;
  /** The same for all accounts of that person. */
  personId?: string | undefined;
  /** Who has fired it by hand, apart from its owner. */
  triggers?: readonly Trigger[] | undefined;
}

/** A schedule as it is created. Either `cron` or `everyMs`. */
export interface ScheduleInput extends Omit<ScheduledRun, 'triggers'> {
  /** `[A-Za-z0-9_-]{1,64}`, unique within the tenant. */
  name: string;
  /** Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron?: string | undefined;
  /** Counted from the beginning of 1970. */
  everyMs?: number | undefined;
  /** For `cron`, as in `Europe/Berlin`. */
  timeZone: string;
  overlap: Overlap;
  isPaused?: boolean | undefined;
  /** Who created it. */
  by: string;
}

/** What a firing notes of its run in its memo, and returns. */
export interface FiringNote {
  sessionId?: string;
  runId?: string;
  /** How its run has ended; `skipped` and `refused` without one. */
  outcome?: 'completed' | 'failed' | 'interrupted' | 'skipped' | 'refused';
  /** Why it failed, or was refused. */
  code?: string;
}

/** A firing as Temporal knows it. */
export interface Firing extends Omit<FiringNote, 'outcome'> {
  /** ms since the epoch. */
  at: number;
  workflowId: string;
  /** `unknown` once Temporal no longer keeps its workflow. */
  status: 'running' | 'stopped' | 'unknown' | NonNullable<FiringNote['outcome']>;
}
