import { toNoticeId, type RunsHost } from '../../executor/extension.js';
import type { BudgetDeps } from './budgets.js';

/**
 * Notifies receivers of a budget that is spent: once for each budget and day or month, however many
 * processes see it. Undefined without receivers.
 *
 * @param window the day or month, ISO 8601
 */
export function announceSpendTo(notify: RunsHost['notify']): BudgetDeps['announce'] {
  if (notify === undefined) return undefined;
  return async ({ owner, tenant }, spent, window) => {
    const { of, period, limitUsd, usedUsd } = spent;
    const whose = of === 'user' ? owner : undefined;
    await notify({
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
