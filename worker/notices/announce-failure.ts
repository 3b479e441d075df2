import type { Deliveries } from '../../executor/deliveries.js';
import { toDeliveryId, toNoticeId } from '../../executor/delivery-ids.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { FailedDelivery, Notice } from '../../protocol/notices.js';
import type { RunMeter } from '../../protocol/run-meter.js';

/**
 * Notifies the other receivers of a delivery that failed for good; of each delivery once. Entries of
 * the audit trail are too many for that: they are only listed among the deliveries that failed.
 */
export function createAnnounceFailure({ announce }: Pick<Deliveries, 'announce'>, meter: RunMeter) {
  return async (failed: FailedDelivery): Promise<void> => {
    const { type } = failed.notice;
    if (type !== 'audit.entry') await announce(toFailureNotice(failed));
    meter({ kind: 'notice_tried', type, outcome: 'failed' });
  };
}

function toFailureNotice({ notice, receiver, code }: FailedDelivery): Notice {
  const { sessionId, runId, agent, tenant, toolCallId, toolName } = notice;
  const deliveryId = toDeliveryId(notice, receiver);
  return {
    id: toNoticeId(`delivery.failed ${deliveryId}`),
    ...{ type: 'delivery.failed', at: Date.now(), sessionId, runId, agent, tenant },
    ...{ toolCallId, toolName, receiver, code },
    delivery: toShownSessionId(deliveryId),
  };
}
