import type { BudgetDeps } from './budgets.js';
import type { Deliveries } from './deliveries.js';
import { toNoticeId } from './delivery-ids.js';

/**
 * Notifies receivers of a budget that is spent: once for each budget and day or month, however many
 * processes see it. Undefined without receivers.
 *
 * @param window the day or month, ISO 8601
 */
export function announceSpendTo(
  deliveries: Pick<Deliveries, 'announce'> | undefined,
): BudgetDeps['announce'] {
  if (deliveries === undefined) return undefined;
  return async ({ owner, tenant }, spent, window) => {
    const { of, period, limitUsd, usedUsd } = spent;
    const whose = of === 'user' ? owner : undefined;
    await deliveries.announce({
      id: toNoticeId(JSON.stringify(['spend.exceeded', tenant, whose, window])),
      type: 'spend.exceeded',
      at: Date.now(),
      period,
      limitUsd,
      usedUsd,
      ...(tenant !== undefined && { tenant }),
      ...(whose !== undefined && { owner: whose }),
    });
  };
}
