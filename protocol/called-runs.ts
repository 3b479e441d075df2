import type { Asker, RunError, RunInput, RunUsage, Trigger } from './run.js';

/**
 * Runs that a workflow of another program begins: what it exchanges with the activities that do so. Types
 * and plain constants only, since workflow code imports this file.
 */

/** Whose run it is, and in which conversation. */
export interface CalledRunOptions {
  /** The conversation. Default: a new one. */
  sessionId?: string;
  /** Its owner. Default `anonymous`. */
  userId?: string;
  tenantId?: string;
  /** Who asks for the run, if that is not the owner: neither approves alone what has `separateApprover`. */
  by?: string;
  /** All who ask, the author of the message first. Default: `by`. */
  askers?: readonly Asker[];
  /** The conversation's state from now on, in the shape of the agent's state schema. */
  state?: Record<string, unknown>;
  /** Metadata of the message. */
  metadata?: Record<string, unknown>;
  /** Id of the message: sent again with the same id, it is the same run. Default: a new one. */
  messageId?: string;
  /**
   * While another run of the conversation is active, or waits for people: `fail` (default) fails with
   * type `agent_already_running`, `wait` tries until it has ended, less and less often, up to every
   * minute; also while a quota of runs or a budget refuses it. `abandon` is `fail`, except that a run
   * that waits for people is interrupted, as a message of a person does it: its questions are withdrawn.
   */
  whenBusy?: 'fail' | 'wait' | 'abandon';
  /**
   * Leaves text and output out of the result, so that no history has them: they are in the conversation.
   */
  withoutReply?: boolean;
}

/** A run to begin, with ids that stay the same however often its activity is tried. */
export interface CalledRunRequest extends Omit<CalledRunOptions, 'sessionId' | 'messageId'> {
  agent: string;
  message: string;
  sessionId: string;
  messageId: string;
}

/** A run that has been begun. */
export interface CalledRun {
  /** As it is stored. */
  sessionId: string;
  runId: string;
  /** What its workflow is started with; absent if it was started before, or waits for its agent. */
  start?: CalledRunStart;
}

export interface CalledRunStart {
  input: RunInput;
  /** For operators. */
  details: string;
  tenant?: string | undefined;
}

/** A run, in its conversation as it is stored, or that of a message that may have begun one. */
export type CalledRunRef =
  | { sessionId: string; runId: string }
  | Pick<CalledRunRequest, 'sessionId' | 'tenantId' | 'userId' | 'messageId'>;

/** Tokens, and what they cost. */
export type CalledRunUsage = RunUsage;

/** How a run has ended. */
export type CalledRunResult<Output = unknown> = {
  sessionId: string;
  runId: string;
  /** The text of the run's newest step. */
  text: string;
  /** True if the text was longer than a workflow's history should hold: the rest is in the conversation. */
  isCut?: true;
  usage?: CalledRunUsage;
} & (
  | {
      status: 'completed';
      /** The structured result, of an agent with an output schema. */
      output?: Output;
    }
  /** Also a run that was aborted: code `framework_cancelled`. */
  | { status: 'failed'; error: RunError }
  | { status: 'interrupted'; reason?: string }
);

export type CalledRunLook = { kind: 'at_work' } | { kind: 'ended'; result: CalledRunResult };

export interface CalledRunActivities {
  /** Begins a run; tried again, it is the same run. */
  beginAgentRun: (request: CalledRunRequest) => Promise<CalledRun>;
  /** How the run has ended, if it has. */
  lookAtAgentRun: (ref: {
    sessionId: string;
    runId: string;
    withoutReply?: boolean;
  }) => Promise<CalledRunLook>;
  /** Stops it as the API does; harmless when it has ended, or was never begun. */
  stopAgentRun: (
    ref: CalledRunRef & { mode?: 'interrupt' | 'abort'; reason?: string },
  ) => Promise<void>;
}

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
