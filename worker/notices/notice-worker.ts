import type { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createDeliveries, type Deliveries } from '../../executor/deliveries.js';
import { toDeliveryId, toNoticeId } from '../../executor/delivery-ids.js';
import { createSender } from '../../notify/sender.js';
import type { NotifySettings } from '../../notify/settings.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { NoticeActivities, FailedDelivery, Notice } from '../../protocol/notices.js';
import type { RunMeter } from '../../protocol/run-meter.js';
import { noticeQueueOf } from '../../protocol/temporal-names.js';
import type { Store } from '../../stores/contract/store.js';
import { besideOf } from '../tool-worker.js';
import { createAnnounce } from './announce.js';
import { createSend, type SendDeps } from './send.js';

/** Activities of one process: most of them wait for a receiver's turn. */
const SLOTS = 300;
/** Over all processes, so that a flood of questions reaches neither Temporal nor receivers at once. */
const PER_SECOND = 50;

/** The activities of notices; `close` ends connections to mail servers. */
export function createNoticeActivities(
  client: Client,
  taskQueue: string,
  settings: NotifySettings,
  { store }: { store: Store },
  agents: SendDeps['agents'],
  meter: SendDeps['meter'],
): { activities: NoticeActivities; close: () => void } {
  const deliveries = createDeliveries(client, taskQueue, settings);
  const sender = createSender(settings);
  const announce = createAnnounce({ store, deliveries, settings });
  return {
    activities: {
      announceWait: announce.wait,
      announceEnd: announce.end,
      announceFailure: createAnnounceFailure(deliveries, meter),
      sendNotice: createSend({ agents, store, sender, settings, meter }),
    },
    close: sender.close,
  };
}

/** The worker for notices, beside the one for workflows and models: it has its own queue and slots. */
export function createNoticeWorker(
  options: WorkerOptions,
  activities: NoticeActivities,
): Promise<Worker> {
  return Worker.create({
    ...besideOf(options),
    taskQueue: noticeQueueOf(options.taskQueue),
    activities,
    maxConcurrentActivityTaskExecutions: SLOTS,
    maxTaskQueueActivitiesPerSecond: PER_SECOND,
    maxConcurrentActivityTaskPolls: 2,
  });
}

/** Notifies the other receivers of a delivery that failed for good; of each delivery once. */
export function createAnnounceFailure({ announce }: Pick<Deliveries, 'announce'>, meter: RunMeter) {
  return async (failed: FailedDelivery): Promise<void> => {
    const { type } = failed.notice;
    await announce(toFailureNotice(failed));
    meter({ kind: 'notice_tried', type, outcome: 'failed' });
  };
}

function toFailureNotice({ notice, receiver, code }: FailedDelivery): Notice {
  const { sessionId, runId, agent, tenant, toolCallId, toolName } = notice;
  const deliveryId = toDeliveryId(notice, receiver);
  return {
    id: toNoticeId(`delivery.failed ${deliveryId}`),
    type: 'delivery.failed',
    at: Date.now(),
    sessionId,
    runId,
    agent,
    tenant,
    toolCallId,
    toolName,
    receiver,
    code,
    delivery: toShownSessionId(deliveryId),
  };
}
