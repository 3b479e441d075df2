import { WorkflowFailedError, type Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Deliveries } from '../../runs/extension.js';
import { wants } from './receivers.js';
import { toRunNotices, type NotifySettings } from './settings.js';
import { deliveryWorkflowIdOf, endWorkflowIdOf } from '../../protocol/ids.js';
import type { Delivery, Notice } from '../../protocol/notices.js';
import { DELIVERY_WORKFLOW_TYPE, END_WORKFLOW_TYPE } from '../../protocol/temporal-names.js';
import { toDeliveryId, toNoticeId, toWhose } from '../../runs/deliveries.js';
import { withinDeadline } from '../../runs/temporal-calls.js';

const START_MS = 5_000;
const TEST_MS = 12_000;
/** A test notice that no worker sends in this time has failed. */
const TEST_WAIT_MS = TEST_MS + 8_000;

export function createDeliveries(
  client: Client,
  taskQueue: string,
  settings: NotifySettings,
): Deliveries {
  const { connection, workflow } = client;
  const call = <T>(work: () => Promise<T>, deadlineMs?: number): Promise<T> =>
    withinDeadline(connection, work, deadlineMs);

  async function begin(deliveryId: string, delivery: Delivery): Promise<void> {
    try {
      await call(
        () =>
          workflow.start(DELIVERY_WORKFLOW_TYPE, {
            workflowId: deliveryWorkflowIdOf(deliveryId),
            taskQueue,
            args: [delivery],
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            staticSummary: `${delivery.notice.type} to ${delivery.receiver}`,
          }),
        START_MS,
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  const wanting = (notice: Notice): string[] =>
    settings.receivers
      // The receiver that failed is not notified of its own failure.
      .filter(({ name }) => name !== notice.receiver)
      .filter((each) => wants(each, notice.type, notice.tenant))
      .map(({ name }) => name);

  return {
    notify: toRunNotices(settings),
    receivers: settings.receivers,
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
      const sent = workflow.getHandle(deliveryWorkflowIdOf(deliveryId));
      try {
        await call(() => sent.result(), TEST_WAIT_MS);
        return { status: 'delivered' };
      } catch (error) {
        const problem = error instanceof WorkflowFailedError ? error.cause?.message : undefined;
        return { status: 'failed', problem: problem ?? 'No worker has sent it in time.' };
      }
    },
  };
}
