import { z } from 'zod';
import { SESSION_ID } from './ids.js';
import { LIMITS } from './limits.js';
import type { Trigger } from './run.js';

/** Schedules, and requests and replies of `/api/operator/schedules`. Times are ms since the epoch. */

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

const ms = z.number();
const text = z.string().min(1).max(LIMITS.idChars);
const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** No seconds and no `@every`, since a schedule fires at most once a minute. */
const CRON =
  /^(?:@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)|[\w*,/?-]+(?: +[\w*,/?-]+){4})$/;

const times = {
  cron: z.string().trim().max(LIMITS.idChars).regex(CRON).optional(),
  everyMs: z
    .number()
    .int()
    .min(LIMITS.scheduleEveryMs.min)
    .max(LIMITS.scheduleEveryMs.max)
    .optional(),
  timeZone: z
    .string()
    .regex(/^[A-Za-z0-9_+/-]{1,64}$/)
    .default('UTC'),
};

/** `POST /api/operator/schedules`; schedules that programs create must match it, too. */
export const OperatorScheduleBody = z
  .object({
    name,
    agent: text,
    message: z
      .string()
      .min(1)
      .refine(
        (message) => new TextEncoder().encode(message).length <= LIMITS.scheduledMessageBytes,
        { message: 'the message is too long' },
      ),
    /** Owner of the runs. Default: the caller. */
    owner: text.optional(),
    /** The conversation that each firing continues. Default: a new one each time. */
    sessionId: z.string().regex(SESSION_ID).optional(),
    ...times,
    overlap: z.enum(OVERLAPS).default('skip'),
    whenBusy: z.enum(WHEN_BUSY).default('skip'),
    isPaused: z.boolean().default(false),
  })
  .refine(({ cron, everyMs }) => (cron === undefined) !== (everyMs === undefined), {
    message: 'give cron or everyMs',
  })
  .refine(({ overlap, whenBusy }) => overlap !== 'allow_all' || whenBusy !== 'wait', {
    message: 'firings that begin beside each other may not wait: they would gather without bound',
  });

export const OperatorSchedulePath = z.object({ name });

export const OperatorScheduleActBody = z
  .object({ reason: z.string().min(1).max(LIMITS.errorTextBytes).optional() })
  .prefault({});

const schedule = {
  name: z.string(),
  agent: z.string(),
  owner: z.string(),
  sessionId: z.string().optional(),
  cron: z.string().optional(),
  everyMs: ms.optional(),
  timeZone: z.string(),
  overlap: z.enum(OVERLAPS),
  whenBusy: z.enum(WHEN_BUSY),
  isPaused: z.boolean(),
  note: z.string().optional(),
  by: z.string(),
  createdAt: ms,
  /** The next firing times; empty for a schedule that was just created. */
  next: z.array(ms),
};

export const OperatorSchedule = z.object(schedule).meta({ id: 'OperatorSchedule' });
export type OperatorSchedule = z.infer<typeof OperatorSchedule>;

/** Body of `GET /api/operator/schedules`, sorted by name. */
export const OperatorSchedules = z.object({ schedules: z.array(OperatorSchedule) });
export type OperatorSchedules = z.infer<typeof OperatorSchedules>;

/** Body of `GET /api/operator/schedules/:name`. */
export const OperatorScheduleDetail = z
  .object({
    ...schedule,
    message: z.string(),
    /** The newest ten, the newest first. */
    firings: z.array(
      z.object({
        at: ms,
        workflowId: z.string(),
        /** `unknown` once Temporal no longer keeps its workflow. */
        status: z.enum([
          'running',
          'completed',
          'failed',
          'interrupted',
          'skipped',
          'refused',
          'stopped',
          'unknown',
        ]),
        sessionId: z.string().optional(),
        runId: z.string().optional(),
        code: z.string().optional(),
      }),
    ),
    /** Counts since creation. `skipped`: overlaps; `missed`: firings while Temporal was away. */
    counts: z.object({ fired: z.number(), skipped: z.number(), missed: z.number() }),
  })
  .meta({ id: 'OperatorScheduleDetail' });
export type OperatorScheduleDetail = z.infer<typeof OperatorScheduleDetail>;
/** A firing as Temporal knows it. */
export type Firing = OperatorScheduleDetail['firings'][number];

export const OperatorScheduleReply = z.object({
  result: z.enum(['paused', 'resumed', 'triggered', 'deleted']),
});
export type OperatorScheduleReply = z.infer<typeof OperatorScheduleReply>;
