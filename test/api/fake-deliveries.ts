import type { Deliveries } from '../../runs/deliveries.js';

const nothing = (): Promise<void> => Promise.resolve();

/** One receiver of the tenant `acme`. */
export const FAKE_DELIVERIES: Deliveries = {
  notify: undefined,
  receivers: [{ name: 'ops', kind: 'mail', tenant: 'acme', escalation: false }],
  announce: nothing,
  announceEnd: nothing,
  test: async () => ({ status: 'delivered' }),
};
