import type { Asker, RunError, RunInput, RunUsage, Trigger } from './run.js';

/**
 * Types that a workflow of another program exchanges with the activities that begin runs for it.
 * Types and plain constants only, since workflow code imports this file.
 */

export interface CalledRunOptions {
  sessionId?: string;
  /** Owner of the conversation. Default: `anonymous`. */
  userId?: string;
  tenantId?: string;
  /** Person who asks, if not the owner. Neither may approve calls with `separateApprover`. */
  by?: string;
  /** Everyone who asks, the author of the message first. Default: `by`. */
  askers?: readonly Asker[];
  /** The conversation's state from now on, in the shape of the agent's state schema. */
  state?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** Id of the message; a request repeated with it refers to the same run. Default: a new one. */
  messageId?: string;
  /**
   * Policy while another run of the conversation is active or waits for people. `fail` (default)
   * fails with type `agent_already_running`. `wait` retries with back-off up to a minute, also
   * while a quota or a budget refuses the run. `abandon` is `fail`, except that it interrupts a run
   * that waits for people and withdraws its questions, as a person's message does.
   */
  whenBusy?: 'fail' | 'wait' | 'abandon';
  /** Omits text and output from the result, so that no history holds them. */
  withoutReply?: boolean;
}

/** A run to begin, with ids that all retries of the activity share. */
export interface CalledRunRequest extends Omit<CalledRunOptions, 'sessionId' | 'messageId'> {
  agent: string;
  message: string;
  sessionId: string;
  messageId: string;
}

export interface CalledRun {
  sessionId: string;
  runId: string;
  /** Arguments of its workflow; absent if it was started before, or the run waits for its agent. */
  start?: CalledRunStart;
}

export interface CalledRunStart {
  input: RunInput;
  details: string;
  tenant?: string | undefined;
}

/** A run by its stored session id and run id, or by the message that may have begun it. */
export type CalledRunRef =
  | { sessionId: string; runId: string }
  | Pick<CalledRunRequest, 'sessionId' | 'tenantId' | 'userId' | 'messageId'>;

export type CalledRunUsage = RunUsage;

export type CalledRunResult<Output = unknown> = {
  sessionId: string;
  runId: string;
  text: string;
  /** True if the text was cut to a length that suits a history; the conversation has the rest. */
  isCut?: true;
  usage?: CalledRunUsage;
} & (
  | {
      status: 'completed';
      output?: Output;
    }
  /** An aborted run fails, too, with code `framework_cancelled`. */
  | { status: 'failed'; error: RunError }
  | { status: 'interrupted'; reason?: string }
);

export type CalledRunLook = { kind: 'at_work' } | { kind: 'ended'; result: CalledRunResult };

export interface CalledRunActivities {
  /** Begins a run; a retry returns the same run. */
  beginAgentRun: (request: CalledRunRequest) => Promise<CalledRun>;
  lookAtAgentRun: (ref: {
    sessionId: string;
    runId: string;
    withoutReply?: boolean;
  }) => Promise<CalledRunLook>;
  /** Stops the run as the API does; does nothing if it has ended or never began. */
  stopAgentRun: (
    ref: CalledRunRef & { mode?: 'interrupt' | 'abort'; reason?: string },
  ) => Promise<void>;
}

/**
 * Policies for a firing while the one before is not over: skip it, buffer one until then, stop the
 * other's run and begin, or begin beside it.
 */
export const OVERLAPS = ['skip', 'buffer_one', 'cancel_other', 'allow_all'] as const;
export type Overlap = (typeof OVERLAPS)[number];

/**
 * Policies for a firing while its conversation has an active run: skip it, begin it once that has
 * ended, or skip it unless that waits for people, whose questions are then withdrawn.
 */
export const WHEN_BUSY = ['skip', 'wait', 'abandon'] as const;
export type WhenBusy = (typeof WHEN_BUSY)[number];

/** The run that each firing begins. */
export interface ScheduledRun {
  agent: string;
  message: string;
  owner: string;
  tenant?: string | undefined;
  /** The conversation that each firing continues, by its shown id. Default: a new one each time. */
  sessionId?: string | undefined;
  whenBusy: WhenBusy;
  /** Creator of the schedule, who counts as an asker of its runs. Default: the owner. */
  by?: string | undefined;
  personId?: string | undefined;
  /** People other than the owner who fired the schedule by hand. */
  triggers?: readonly Trigger[] | undefined;
}

/** A schedule as it is created. Either `cron` or `everyMs`. */
export interface ScheduleInput extends Omit<ScheduledRun, 'triggers'> {
  /** `[A-Za-z0-9_-]{1,64}`, unique within the tenant. */
  name: string;
  /** Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron?: string | undefined;
  everyMs?: number | undefined;
  /** For `cron`, as in `Europe/Berlin`. */
  timeZone: string;
  overlap: Overlap;
  isPaused?: boolean | undefined;
  by: string;
}

/** Result of a firing, which its memo holds as well. */
export interface FiringNote {
  sessionId?: string;
  runId?: string;
  /** Outcome of the run; `skipped` and `refused` mean that no run began. */
  outcome?: 'completed' | 'failed' | 'interrupted' | 'skipped' | 'refused';
  code?: string;
}
