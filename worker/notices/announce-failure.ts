import type { Deliveries } from '../../executor/deliveries.js';
import { toDeliveryId, toNoticeId } from '../../executor/delivery-ids.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { FailedDelivery } from '../../protocol/notices.js';
import type { RunMeter } from '../../protocol/run-meter.js';

/** Notifies the other receivers of a delivery that failed for good; of each delivery once. */
export function createAnnounceFailure({ announce }: Pick<Deliveries, 'announce'>, meter: RunMeter) {
  return async ({ notice, receiver, code }: FailedDelivery): Promise<void> => {
    const { sessionId, runId, agent, tenant, toolCallId, toolName } = notice;
    const deliveryId = toDeliveryId(notice, receiver);
    await announce({
      id: toNoticeId(`delivery.failed ${deliveryId}`),
      ...{ type: 'delivery.failed', at: Date.now(), sessionId, runId, agent, tenant },
      ...{ toolCallId, toolName, receiver, code },
      delivery: toShownSessionId(deliveryId),
    });
    meter({ kind: 'notice_tried', type: notice.type, outcome: 'failed' });
  };
}
