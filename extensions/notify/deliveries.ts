import type { WorkflowStartOptions } from '@temporalio/client';
import { deliveryWorkflowIdOf, endWorkflowIdOf } from '../../protocol/ids.js';
import type { Delivery, EndRef, Notice } from '../../protocol/notices.js';
import { DELIVERY_WORKFLOW_TYPE, END_WORKFLOW_TYPE } from '../../protocol/temporal.js';
import { toDeliveryId, toNoticeId, toWhose } from '../../runs/deliveries.js';
import type { Deliveries, RunsHost } from '../../runs/extension.js';
import { textOfFailure, withinDeadline } from '../../runs/temporal-calls.js';
import { toRunNotices, wants, type NotifySettings } from './settings.js';

const START_MS = 5_000;
const TEST_MS = 12_000;
/** A test notice that no worker sends in this time has failed. */
const TEST_WAIT_MS = TEST_MS + 8_000;

/** Imports Temporal's client only for its errors: a program without Temporal composes this too. */
export function createDeliveries(
  { client, taskQueue }: Pick<NonNullable<RunsHost['temporal']>, 'client' | 'taskQueue'>,
  settings: NotifySettings,
): Deliveries {
  const { connection, workflow } = client;
  const { receivers, retryForMs } = settings;

  async function startOnce(
    type: string,
    options: Omit<WorkflowStartOptions, 'taskQueue' | 'args'> & { args: [Delivery | EndRef] },
  ): Promise<void> {
    const begin = () =>
      workflow.start(type, { ...options, taskQueue, workflowIdReusePolicy: 'REJECT_DUPLICATE' });
    try {
      await withinDeadline(connection, begin, START_MS);
    } catch (error) {
      const { WorkflowExecutionAlreadyStartedError } = await import('@temporalio/common');
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  /** Returns the workflow's id. */
  async function deliver(delivery: Delivery): Promise<string> {
    const { notice, receiver } = delivery;
    const workflowId = deliveryWorkflowIdOf(toDeliveryId(notice, receiver));
    const staticSummary = `${notice.type} to ${receiver}`;
    await startOnce(DELIVERY_WORKFLOW_TYPE, { workflowId, args: [delivery], staticSummary });
    return workflowId;
  }

  return {
    notify: toRunNotices(settings),
    receivers,
    announce: async (notice, owner) => {
      const { type, tenant } = notice;
      const whose = owner === undefined ? undefined : toWhose({ owner, ...(tenant && { tenant }) });
      const wanting = receivers.filter(
        // The receiver that failed is not notified of its own failure.
        (each) => each.name !== notice.receiver && wants(each, type, tenant),
      );
      await Promise.all(
        wanting.map(({ name: receiver }) =>
          deliver({ notice, receiver, retryForMs, ...(whose !== undefined && { whose }) }),
        ),
      );
    },
    announceEnd: (end) =>
      startOnce(END_WORKFLOW_TYPE, { workflowId: endWorkflowIdOf(end.runId), args: [end] }),
    test: async (receiver, tenant) => {
      const at = Date.now();
      const id = toNoticeId(`test ${receiver} ${String(at)} ${String(Math.random())}`);
      const notice: Notice = { id, type: 'test', at, ...(tenant !== undefined && { tenant }) };
      const sent = workflow.getHandle(await deliver({ notice, receiver, retryForMs: TEST_MS }));
      try {
        await withinDeadline(connection, () => sent.result(), TEST_WAIT_MS);
        return { status: 'delivered' };
      } catch (error) {
        const { WorkflowFailedError } = await import('@temporalio/client');
        const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
        const problem = cause && textOfFailure(cause);
        return { status: 'failed', problem: problem ?? 'No worker has sent it in time.' };
      }
    },
  };
}
