import { createHash, randomUUID } from 'node:crypto';
import {
  type Client,
  type ScheduleOverlapPolicy,
  type ScheduleExecutionResult,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleSummary,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
} from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { HelixError } from '../../protocol/errors.js';
import { scheduleIdOf } from '../../protocol/ids.js';
import { LIMITS, TIMES } from '../../protocol/limits.js';
import {
  type ScheduledRun,
  type ScheduleInput,
  type FiringNote,
  type OperatorSchedule,
  OperatorScheduleBody,
  type OperatorScheduleDetail,
  type Firing,
} from '../../protocol/schedules.js';
import { DEFAULT_TASK_QUEUE, FIRING_WORKFLOW_TYPE } from '../../protocol/temporal.js';
import { addTrigger, type Asker } from '../../protocol/run.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { codeOf, isRefusedForGood, quote, withinDeadline } from '../../runs/temporal-calls.js';
import { hasCodec } from '../../runs/extension.js';

export type { Firing, ScheduleInput } from '../../protocol/schedules.js';

/** A schedule as Temporal knows it. */
export interface ScheduleState extends OperatorSchedule {
  tenant?: string | undefined;
}

/** A schedule with the details that a list does not have. */
export interface DescribedSchedule extends OperatorScheduleDetail {
  tenant?: string | undefined;
}

interface Found {
  about: ScheduleMemo;
  found: ScheduleDescription;
}

/** Memo of a schedule. The message is only in its action. */
type ScheduleMemo = Omit<ScheduleState, 'isPaused' | 'note' | 'next'> & { digest: string };

/** Scheduled runs; each schedule is one of Temporal's. Names are unique within a tenant. */
export interface Schedules {
  /**
   * Creates a schedule. Idempotent for an identical one.
   *
   * @throws HelixError `schedule_exists` if a different one has the name, `quota_exceeded` beyond
   * `LIMITS.schedules`, `validation_error` for invalid input and for times that Temporal refuses,
   * `unavailable`
   */
  create: (input: ScheduleInput) => Promise<ScheduleState>;
  /** Lists a tenant's schedules; Temporal's list is up to two seconds late. */
  list: (tenant: string | undefined) => Promise<ScheduleState[]>;
  /** Returns undefined for an unknown schedule. */
  read: (tenant: string | undefined, name: string) => Promise<DescribedSchedule | undefined>;
  /** Pauses or resumes a schedule; idempotent. @throws HelixError `not_found`, `unavailable` */
  pause: (tenant: string | undefined, name: string, note?: string) => Promise<void>;
  resume: (tenant: string | undefined, name: string, note?: string) => Promise<void>;
  /**
   * Fires the schedule now, even if it is paused, under its own overlap policy.
   *
   * @param by the person who triggers it; with `separateApprover` another person must approve
   */
  trigger: (tenant: string | undefined, name: string, by?: string | Asker) => Promise<void>;
  /** Deletes a schedule; its runs continue. Returns false for an unknown one. */
  delete: (tenant: string | undefined, name: string) => Promise<boolean>;
  /** Deletes a person's schedules and cancels their firings; returns their names. */
  deleteOf: (tenant: string | undefined, owner: string) => Promise<string[]>;
}

/** Scheduled runs yield to runs that people begin (priority 3, Temporal's default). The SDK's type lacks the field. */
const BEHIND_PEOPLE = { priority: { priorityKey: 4 } };
/** Firings that Temporal missed while it was down are caught up within this time. */
const CATCH_UP_MS = 10 * 60_000;
/**
 * Longer than for other calls: a schedule is a workflow of Temporal, which reads a state only after it
 * has applied the changes before it, for seconds on a busy server. No chat waits for these calls.
 */
const CALL_MS = 10_000;
/** Characters of Temporal's reason that are shown. */
const MAX_OF_REASON = 300;

/**
 * Creates schedules over a Temporal client. Workers of the task queue carry out the runs.
 *
 * @example
 * import { Client } from '@temporalio/client';
 * import { createSchedules } from 'helix-temporal/schedules';
 *
 * const schedules = createSchedules({ client: new Client(), taskQueue: 'agent-runs' });
 * await schedules.create({
 *   name: 'morning-report',
 *   agent: 'reporter',
 *   message: 'Report on yesterday.',
 *   owner: 'ann',
 *   cron: '0 7 * * 1-5',
 *   timeZone: 'Europe/Berlin',
 *   overlap: 'skip',
 *   whenBusy: 'skip',
 *   by: 'ann',
 * });
 */
export function createSchedules({
  client,
  taskQueue = DEFAULT_TASK_QUEUE,
}: {
  client: Client;
  taskQueue?: string;
}): Schedules {
  const { connection, schedule } = client;
  const call = <T>(work: () => Promise<T>): Promise<T> => withinDeadline(connection, work, CALL_MS);
  const idOf = (tenant: string | undefined, name: string): string =>
    scheduleIdOf(taskQueue, toStoredSessionId('', tenant), name);
  /** Temporal stores notes unencrypted, so with a codec they do not contain a person's words. */
  const toNote = (given: string | undefined, usual: string): string =>
    given === undefined || hasCodec(client.options.loadedDataConverter) ? usual : given;

  /** Resolves to undefined if Temporal does not know the schedule or workflow. */
  async function ifKnown<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call(work);
    } catch (error) {
      const isUnknown =
        error instanceof ScheduleNotFoundError || error instanceof WorkflowNotFoundError;
      if (isUnknown) return undefined;
      throw error;
    }
  }

  /** Returns false for an unknown schedule. */
  const change = (
    tenant: string | undefined,
    name: string,
    work: (handle: ScheduleHandle) => Promise<void>,
  ): Promise<boolean> => {
    const handle = schedule.getHandle(idOf(tenant, name));
    return ifKnown(() => work(handle).then(() => true)).then((isKnown = false) => isKnown);
  };

  /** @throws HelixError `not_found` */
  async function act(...of: Parameters<typeof change>): Promise<void> {
    if (!(await change(...of))) throw unknown();
  }

  /** Returns undefined for an unknown schedule. */
  async function find(tenant: string | undefined, name: string): Promise<Found | undefined> {
    const found = await ifKnown(() => schedule.getHandle(idOf(tenant, name)).describe());
    if (found === undefined) return undefined;
    const about = memoOf(found);
    return about !== undefined && about.tenant === tenant ? { about, found } : undefined;
  }

  async function readFiring({ takenAt, action }: ScheduleExecutionResult): Promise<Firing> {
    const { workflowId, firstExecutionRunId } = action.workflow;
    const handle = client.workflow.getHandle(workflowId, firstExecutionRunId);
    const found = await ifKnown(() => handle.describe());
    const { outcome = 'failed', ...note } = (found?.memo?.['firing'] ?? {}) as FiringNote;
    const status = found === undefined ? 'unknown' : (STATUS[found.status.name] ?? outcome);
    return { at: takenAt.getTime(), workflowId, ...note, status };
  }

  /** Cancels the firings that are not over, of the recent ones that Temporal knows. */
  async function cancelFirings(found: ScheduleDescription | undefined): Promise<void> {
    // `runningActions` would lack those of `allow_all`.
    const ids = (found?.info.recentActions ?? []).map(({ action }) => action.workflow.workflowId);
    await Promise.all(ids.map((id) => ifKnown(() => client.workflow.getHandle(id).cancel())));
  }

  /**
   * Lists schedules sorted by name.
   * @param orElse called if the server does not find schedules by their ids
   */
  async function findAll(
    tenant: string | undefined,
    orElse: (cause: unknown) => ScheduleState[],
  ): Promise<ScheduleState[]> {
    const query = `ScheduleId STARTS_WITH ${quote(idOf(tenant, ''))}`;
    const found: ScheduleState[] = [];
    try {
      await call(async () => {
        for await (const each of schedule.list({ query, pageSize: LIMITS.schedules })) {
          const about = memoOf(each);
          if (about !== undefined && about.tenant === tenant) found.push(toState(about, each));
        }
      });
    } catch (error) {
      // The client reports an invalid argument as TypeError.
      if (isRefusedForGood(error) || error instanceof TypeError) return orElse(error);
      throw error;
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  const list = (tenant: string | undefined): Promise<ScheduleState[]> =>
    findAll(tenant, (cause) => {
      const text = 'Schedules cannot be listed: this server does not find them by their ids.';
      throw new HelixError('unavailable', text, { cause });
    });

  /**
   * Returns the schedule if it is identical, undefined if the name is free.
   * @throws HelixError `schedule_exists`
   */
  async function sameOf(input: ScheduleInput, digest: string): Promise<ScheduleState | undefined> {
    const same = await find(input.tenant, input.name);
    if (same === undefined) return undefined;
    if (same.about.digest === digest) return toState(same.about, same.found);
    throw new HelixError('schedule_exists', 'There is another schedule of this name.');
  }

  async function create(input: ScheduleInput): Promise<ScheduleState> {
    check(input);
    const { message, isPaused = false, personId, ...described } = input;
    const { name, agent, owner, tenant, sessionId, whenBusy, cron, everyMs } = input;
    const digest = digestOf(input);
    const same = await sameOf(input, digest);
    if (same !== undefined) return same;
    if ((await list(tenant)).length >= LIMITS.schedules) {
      const max = String(LIMITS.schedules);
      throw new HelixError('quota_exceeded', `There are ${max} schedules already.`);
    }
    const state = { ...described, createdAt: Date.now() };
    const about: ScheduleMemo = { ...state, digest };
    const { by } = input;
    const run: ScheduledRun = { agent, message, owner, tenant, sessionId, whenBusy, by, personId };
    const scheduleId = idOf(tenant, name);
    try {
      await call(() =>
        schedule.create({
          scheduleId,
          spec: {
            ...(cron !== undefined && { cronExpressions: [cron] }),
            ...(everyMs !== undefined && { intervals: [{ every: everyMs }] }),
            timezone: input.timeZone,
          },
          action: {
            type: 'startWorkflow',
            workflowType: FIRING_WORKFLOW_TYPE,
            workflowId: scheduleId,
            taskQueue,
            args: [run],
            workflowTaskTimeout: TIMES.workflowTaskMs,
            staticSummary: `${agent}: schedule ${name}`,
            ...BEHIND_PEOPLE,
          },
          policies: { overlap: toPolicy(input.overlap), catchupWindow: CATCH_UP_MS },
          memo: { about },
          state: { paused: isPaused },
        }),
      );
    } catch (error) {
      if (error instanceof TypeError) {
        const text = `These times cannot be used: ${error.message.slice(0, MAX_OF_REASON)}`;
        throw new HelixError('validation_error', text);
      }
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      // Another request created it meanwhile, or an earlier one whose reply was lost.
      const other = await sameOf(input, digest);
      if (other !== undefined) return other;
      throw new HelixError('unavailable', 'The schedule was deleted meanwhile.', { cause: error });
    }
    return { ...state, isPaused, next: [] };
  }

  /**
   * Records in a schedule the person who is about to trigger it. Temporal's trigger carries no name, but
   * the firing gets the schedule's arguments.
   *
   * @throws HelixError `unavailable` if others change the schedule all the time; `not_found`
   */
  async function noteTrigger(
    tenant: string | undefined,
    name: string,
    asker: Asker,
  ): Promise<void> {
    const at = Date.now();
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { found } = (await find(tenant, name)) ?? {};
      if (found === undefined) throw unknown();
      const [run] = (found.action.args ?? []) as [ScheduledRun?];
      if (run === undefined) return;
      const { triggers = [] } = run;
      const noted = addTrigger(triggers, { ...asker, at });
      // This also confirms the update below: servers silently drop an outdated one.
      if (noted === triggers) return;
      await call(() => update(client, found, { ...run, triggers: noted }));
    }
    throw new HelixError('unavailable', 'The schedule is being changed by others; try again.');
  }

  return {
    create,
    list,
    read: async (tenant, name) => {
      const described = await find(tenant, name);
      if (described === undefined) return undefined;
      const { about, found } = described;
      const { info, action } = found;
      const [run] = (action.args ?? []) as [ScheduledRun?];
      return {
        ...toState(about, found),
        message: run?.message ?? '',
        firings: await Promise.all([...info.recentActions].reverse().map(readFiring)),
        counts: {
          fired: info.numActionsTaken,
          skipped: info.numActionsSkippedOverlap,
          missed: info.numActionsMissedCatchupWindow,
        },
      };
    },
    pause: (tenant, name, note) =>
      act(tenant, name, (handle) => handle.pause(toNote(note, 'paused'))),
    resume: (tenant, name, note) =>
      act(tenant, name, (handle) => handle.unpause(toNote(note, 'resumed'))),
    trigger: async (tenant, name, by) => {
      if (by !== undefined) {
        await noteTrigger(tenant, name, typeof by === 'string' ? { by } : by);
      }
      const { about } = (await find(tenant, name)) ?? {};
      await act(tenant, name, (handle) => handle.trigger(toPolicy(about?.overlap ?? 'skip')));
    },
    delete: (tenant, name) => change(tenant, name, (handle) => handle.delete()),
    deleteOf: async (tenant, owner) => {
      // A server without support for listing has no schedules.
      const all = await findAll(tenant, () => []);
      const theirs = all.filter((each) => each.owner === owner);
      for (const { name } of theirs) {
        // One that still waits for its turn would begin another conversation of this person. A failure
        // here leaves the schedule to the next attempt; the second look finds those begun meanwhile.
        await cancelFirings((await find(tenant, name))?.found);
        const begun = await find(tenant, name);
        await change(tenant, name, (handle) => handle.delete());
        await cancelFirings(begun?.found);
      }
      return theirs.map(({ name }) => name);
    },
  };
}

function unknown(): HelixError {
  return new HelixError('not_found', 'There is no such schedule.');
}

/** @throws HelixError `validation_error` */
function check(input: ScheduleInput): void {
  const { error } = OperatorScheduleBody.safeParse(input);
  if (error === undefined) return;
  const faults = error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new HelixError('validation_error', `The schedule is not valid: ${faults.join('; ')}`);
}

function toPolicy(overlap: ScheduleInput['overlap']): ScheduleOverlapPolicy {
  return overlap.toUpperCase() as ScheduleOverlapPolicy;
}

const STATUS: Record<string, Firing['status']> = {
  RUNNING: 'running',
  CANCELLED: 'stopped',
  TERMINATED: 'stopped',
};

/** Hashes a schedule's content, without the person who creates it. */
function digestOf({ by: _by, personId: _id, isPaused: _isPaused, ...what }: ScheduleInput): string {
  const fields = Object.entries<unknown>(what)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => a.localeCompare(b, 'en'));
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}

function memoOf({ memo }: Pick<ScheduleSummary, 'memo'>): ScheduleMemo | undefined {
  return memo?.['about'] as ScheduleMemo | undefined;
}

function toState(
  { digest: _digest, ...about }: ScheduleMemo,
  { state, info }: Pick<ScheduleSummary, 'state' | 'info'>,
): ScheduleState {
  const { paused: isPaused, note } = state;
  const next = info.nextActionTimes.map((at) => at.getTime());
  const noted = note !== undefined && note !== '' && { note };
  return { ...about, isPaused, ...noted, next };
}

/** Each attempt may lose against another concurrent change of the schedule. */
const TRIES = 10;

/** gRPC status codes. */
const [NOT_FOUND, FAILED_PRECONDITION] = [5, 9];

/** Codes for a schedule that was changed or deleted meanwhile; the next attempt finds out which. */
const CHANGED: readonly unknown[] = [FAILED_PRECONDITION, NOT_FOUND];

async function update(
  { workflowService, options }: Client,
  { scheduleId, raw }: ScheduleDescription,
  run: ScheduledRun,
): Promise<void> {
  const { schedule, conflictToken } = raw;
  const { payloadConverter, payloadCodecs } = options.loadedDataConverter;
  let payloads = [payloadConverter.toPayload(run)];
  for (const codec of payloadCodecs) payloads = await codec.encode(payloads);
  const { namespace, identity } = options;
  const startWorkflow = { ...schedule?.action?.startWorkflow, input: { payloads } };
  try {
    await workflowService.updateSchedule({
      namespace,
      scheduleId,
      identity,
      conflictToken,
      requestId: randomUUID(),
      schedule: { ...schedule, action: { ...schedule?.action, startWorkflow } },
    });
  } catch (error) {
    if (!CHANGED.includes(codeOf(error))) throw error;
  }
}
