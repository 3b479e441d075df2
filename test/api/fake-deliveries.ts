import { toStoredSessionId } from '../../ai-sdk/index.js';
import type { Deliveries, DeliveryState } from '../../executor/deliveries.js';

const nothing = (): Promise<void> => Promise.resolve();

const delivery: DeliveryState = {
  deliveryId: toStoredSessionId('d-1', 'acme'),
  receiver: 'ops',
  status: 'failed',
  notice: { id: 'msg_1', type: 'approval.requested', at: 1 },
  startedAt: 1,
};
/** One receiver of the tenant `acme`, and the delivery `d-1` to it. */
export const FAKE_DELIVERIES: Deliveries = {
  notify: undefined,
  receivers: [
    { name: 'ops', kind: 'mail', to: 'ops@example.com', tenant: 'acme', escalation: false },
  ],
  announce: nothing,
  announceEnd: nothing,
  redeliver: nothing,
  isUnderWay: async () => false,
  test: async () => delivery,
  read: async (id) => (id === delivery.deliveryId ? delivery : undefined),
  list: async (tenant) => (tenant === 'acme' ? [delivery] : []),
};
