import type { Deliveries } from '../../runs/extension.js';
import { createDeliveries } from './deliveries.js';
import { toDeliveryId, toNoticeId } from '../../runs/deliveries.js';
import { createSender } from './sender.js';
import type { NotifySettings } from './settings.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { NoticeActivities, FailedDelivery, Notice } from '../../protocol/notices.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { noticeQueueOf } from '../../protocol/temporal-names.js';
import type { WorkerHost, WorkerParts } from '../../worker/extension.js';
import { createAnnounce } from './announce.js';
import { createSend } from './send.js';

/** Concurrent activities of one process; most of them wait for a receiver's turn. */
const SLOTS = 300;
/** Limit over all processes, so that a flood of questions overloads neither Temporal nor receivers. */
const PER_SECOND = 50;

/** Activities, task queue and slots of the worker for notices. `close` ends connections to mail servers. */
export function createNoticeWork(
  { temporal: { client, taskQueue }, store, agents, meter, times }: WorkerHost,
  settings: NotifySettings,
): WorkerParts {
  const deliveries = createDeliveries(client, taskQueue, settings);
  const sender = createSender(settings);
  const announce = createAnnounce({ store, deliveries, settings });
  const activities: NoticeActivities = {
    announceWait: announce.wait,
    announceEnd: announce.end,
    announceFailure: createAnnounceFailure(deliveries, meter),
    sendNotice: createSend({ agents, store, sender, settings, meter, times }),
  };
  return {
    beside: {
      activities,
      taskQueue: noticeQueueOf(taskQueue),
      maxConcurrentActivityTaskExecutions: SLOTS,
      maxTaskQueueActivitiesPerSecond: PER_SECOND,
      maxConcurrentActivityTaskPolls: 2,
    },
    close: sender.close,
  };
}

/** Notifies the other receivers, once, of a delivery that failed for good. */
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
