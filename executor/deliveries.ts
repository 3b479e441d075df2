import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { wants, type Receiver } from '../notify/receivers.js';
import { toRunNotices, type NotifySettings } from '../notify/settings.js';
import { HelixError } from '../protocol/errors.js';
import { deliveryWorkflowIdOf, endWorkflowIdOf } from '../protocol/ids.js';
import type { Delivery, EndRef, Notice } from '../protocol/notices.js';
import type { RunNotices } from '../protocol/run.js';
import { DELIVERY_WORKFLOW_TYPE, END_WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { toStoredSessionId } from '../stores/record/stored-session-id.js';
import { toDeliveryId, toNoticeId, toWhose } from './delivery-ids.js';
import { isRefusedForGood } from './grpc-status.js';
import { withinDeadline } from './run-workflows.js';

/** A delivery as Temporal knows it. */
export interface DeliveryState {
  /** As it is stored. */
  deliveryId: string;
  receiver: string;
  notice: Notice;
  status: 'running' | 'delivered' | 'failed';
  /** ms since the epoch. */
  startedAt: number;
  endedAt?: number;
  /** Attempts of one that is running, and why the newest one failed. */
  attempts?: number;
  problem?: string;
}

/** Notices to receivers: a workflow each. Ids are those under which deliveries are stored. */
export interface Deliveries {
  /** What workflows of runs start notices for. */
  readonly notify: RunNotices | undefined;
  readonly receivers: readonly Receiver[];
  /**
   * Starts one delivery to each receiver that wants the notice; the same notice once.
   *
   * @param owner of the conversation that it is about
   */
  announce: (notice: Notice, owner?: string) => Promise<void>;
  /** True while a receiver has yet to take this notice. */
  isUnderWay: (notice: Notice) => Promise<boolean>;
  /** Starts the notice of the end of a run whose workflow is gone; the same end once. */
  announceEnd: (end: EndRef) => Promise<void>;
  /** Sends a test, which is tried for a short time only. */
  test: (receiver: string, tenant: string | undefined) => Promise<DeliveryState>;
  /** Undefined for an unknown delivery, and for one that Temporal no longer keeps. */
  read: (deliveryId: string) => Promise<DeliveryState | undefined>;
  /** Those of a tenant, the newest first. */
  list: (
    tenant: string | undefined,
    page: { limit: number; status?: DeliveryState['status'] | undefined },
  ) => Promise<DeliveryState[]>;
  /** Begins a delivery that failed once more. @throws HelixError `nothing_to_do` for another one */
  redeliver: (delivery: DeliveryState) => Promise<void>;
}

const START_MS = 5_000;
const LIST_MS = 5_000;
const TEST_MS = 12_000;
const STATUS: Record<string, DeliveryState['status']> = {
  RUNNING: 'running',
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'delivered',
};
const QUERY: Record<DeliveryState['status'], string> = {
  running: "ExecutionStatus = 'Running'",
  delivered: "ExecutionStatus = 'Completed'",
  failed: "ExecutionStatus IN ('Failed', 'TimedOut', 'Canceled', 'Terminated')",
};

export function createDeliveries(
  client: Client,
  taskQueue: string,
  settings: NotifySettings,
): Deliveries {
  const { connection, workflow } = client;
  const call = <T>(work: () => Promise<T>, deadlineMs?: number): Promise<T> =>
    withinDeadline(connection, work, deadlineMs);

  /** False if it was begun before. */
  async function begin(
    deliveryId: string,
    delivery: Delivery,
    reuse: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY' = 'REJECT_DUPLICATE',
  ): Promise<boolean> {
    const { notice, receiver } = delivery;
    try {
      await call(
        () =>
          workflow.start(DELIVERY_WORKFLOW_TYPE, {
            workflowId: deliveryWorkflowIdOf(deliveryId),
            taskQueue,
            args: [delivery],
            workflowIdReusePolicy: reuse,
            staticSummary: `${notice.type} to ${receiver}`,
            memo: { notice, receiver },
          }),
        START_MS,
      );
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return false;
    }
  }

  async function describe(workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await call(() => workflow.getHandle(workflowId).describe());
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  async function read(deliveryId: string): Promise<DeliveryState | undefined> {
    const id = deliveryWorkflowIdOf(deliveryId);
    const found = await describe(id);
    if (found === undefined) return undefined;
    const state = toState(found);
    const [pending] = found.raw.pendingActivities ?? [];
    const problem = state.status === 'failed' ? await problemOf(id) : pending?.lastFailure?.message;
    return {
      ...state,
      ...(pending?.attempt != null && { attempts: pending.attempt }),
      ...(problem != null && { problem }),
    };
  }

  const wanting = (notice: Notice): string[] =>
    settings.receivers
      // The one that did not take a notice does not take this one either.
      .filter(({ name }) => name !== notice.receiver)
      .filter((each) => wants(each, notice.type, notice.tenant))
      .map(({ name }) => name);

  /** Why a delivery has failed: the failure of its workflow. */
  async function problemOf(workflowId: string): Promise<string | undefined> {
    const ended = call(() => workflow.getHandle(workflowId).result());
    return ended.then(
      () => undefined,
      (error: unknown) => {
        const { cause } = error as { cause?: unknown };
        return cause instanceof Error ? cause.message : undefined;
      },
    );
  }

  /** A delivery that was begun once more has another execution, which is under way or was taken. */
  async function withoutRedelivered(failed: DeliveryState[]): Promise<DeliveryState[]> {
    if (failed.length === 0) return [];
    const ids = failed.map(({ deliveryId }) => `'${deliveryWorkflowIdOf(deliveryId)}'`);
    const query = `WorkflowId IN (${ids.join(', ')}) AND ExecutionStatus IN ('Running', 'Completed')`;
    const again = new Set<string>();
    for await (const each of workflow.list({ query })) again.add(toState(each).deliveryId);
    return failed.filter(({ deliveryId }) => !again.has(deliveryId));
  }

  return {
    notify: toRunNotices(settings),
    receivers: settings.receivers,
    read,
    announce: async (notice, owner) => {
      const { retryForMs } = settings;
      const { tenant } = notice;
      const whose =
        owner === undefined ? {} : { whose: toWhose({ owner, ...(tenant && { tenant }) }) };
      await Promise.all(
        wanting(notice).map((receiver) =>
          begin(toDeliveryId(notice, receiver), { notice, receiver, retryForMs, ...whose }),
        ),
      );
    },
    isUnderWay: async (notice) => {
      const found = await Promise.all(
        wanting(notice).map((receiver) =>
          describe(deliveryWorkflowIdOf(toDeliveryId(notice, receiver))),
        ),
      );
      return found.some((each) => each !== undefined && toState(each).status === 'running');
    },
    announceEnd: async (end) => {
      try {
        await call(
          () =>
            workflow.start(END_WORKFLOW_TYPE, {
              workflowId: endWorkflowIdOf(end.runId),
              taskQueue,
              args: [end],
              workflowIdReusePolicy: 'REJECT_DUPLICATE',
              workflowIdConflictPolicy: 'USE_EXISTING',
            }),
          START_MS,
        );
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    test: async (receiver, tenant) => {
      const at = Date.now();
      const id = toNoticeId(`test ${receiver} ${String(at)} ${String(Math.random())}`);
      const notice: Notice = { id, type: 'test', at, ...(tenant !== undefined && { tenant }) };
      const deliveryId = toDeliveryId(notice, receiver);
      await begin(deliveryId, { notice, receiver, retryForMs: TEST_MS });
      return { deliveryId, receiver, notice, status: 'running', startedAt: at };
    },
    list: async (tenant, { limit, status }) => {
      const queue = taskQueue.replaceAll("'", "''");
      const query = [
        `WorkflowType = '${DELIVERY_WORKFLOW_TYPE}'`,
        `TaskQueue = '${queue}'`,
        `WorkflowId STARTS_WITH '${deliveryWorkflowIdOf(toStoredSessionId('d-', tenant))}'`,
        ...(status === undefined ? [] : [QUERY[status]]),
      ].join(' AND ');
      try {
        return await call(async () => {
          const found: DeliveryState[] = [];
          let some: DeliveryState[] = [];
          const seen = new Set<string>();
          const keep = async (): Promise<void> => {
            found.push(...(status === 'failed' ? await withoutRedelivered(some) : some));
            some = [];
          };
          for await (const each of workflow.list({ query, pageSize: limit })) {
            const state = toState(each);
            // One that was begun again has several executions, the newest first.
            if (seen.has(state.deliveryId)) continue;
            seen.add(state.deliveryId);
            some.push(state);
            if (some.length >= limit) await keep();
            if (found.length >= limit) break;
          }
          await keep();
          return found.slice(0, limit);
        }, LIST_MS);
      } catch (error) {
        if (!isRefusedForGood(error)) throw error;
        const text =
          'Deliveries cannot be listed: this server does not find workflows by their ids.';
        throw new HelixError('unavailable', text, { cause: error });
      }
    },
    redeliver: async ({ deliveryId, receiver, notice }) => {
      const { retryForMs } = settings;
      const again = { notice, receiver, retryForMs };
      if (await begin(deliveryId, again, 'ALLOW_DUPLICATE_FAILED_ONLY')) return;
      throw new HelixError('nothing_to_do', 'This delivery has not failed.');
    },
  };
}

function toState(found: {
  workflowId: string;
  status: { name: string };
  memo?: Record<string, unknown> | undefined;
  startTime: Date;
  closeTime?: Date | undefined;
}): DeliveryState {
  const { workflowId, status, memo = {}, startTime, closeTime } = found;
  return {
    deliveryId: workflowId.slice(PREFIX.length),
    receiver: memo['receiver'] as string,
    notice: memo['notice'] as Notice,
    status: STATUS[status.name] ?? 'failed',
    startedAt: startTime.getTime(),
    ...(closeTime !== undefined && { endedAt: closeTime.getTime() }),
  };
}

const PREFIX = deliveryWorkflowIdOf('');
