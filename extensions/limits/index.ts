import type { Extension } from '../../extension.js';
import type { RunsHost } from '../../executor/extension.js';
import { announceSpendTo } from './announce-spend.js';
import {
  budgetsOfSettings,
  createBudgetCheck,
  type Budgets,
  type BudgetSettings,
} from './budgets.js';
import {
  admitWithin,
  createQuotasOf,
  quotasOfSettings,
  readQuotas,
  type Quotas,
  type QuotaSettings,
} from './quotas.js';
import { OPERATOR_USAGE_ROUTE } from './routes.js';
import { warnOfUnpriced } from './unpriced-agents.js';

export { budgetsOfSettings, type Budget, type Budgets } from './budgets.js';
export { unpricedAgents } from './unpriced-agents.js';
export { toQuotas, type Quotas } from './quotas.js';

export interface LimitOptions {
  /**
   * What users and tenants may have, see `toQuotas`. Default: 20 active runs, 10 queued messages, 1,000 sessions and
   * 256 MB for each user, 50 times that for each tenant; no limits where no user is named.
   */
  quotas?: Quotas | 'unlimited' | undefined;
  /** What users and tenants may spend. Default: no limit. */
  budgets?: Budgets | undefined;
}

/** Options from the settings of a process. @param isOpen true for an API where nobody signs in */
export function limitsOfSettings(
  settings: QuotaSettings & BudgetSettings & { HOST: string },
  { isOpen }: { isOpen?: boolean } = {},
): LimitOptions {
  return {
    quotas: isOpen === undefined ? quotasOfSettings(settings) : readQuotas(settings, { isOpen }),
    budgets: budgetsOfSettings(settings),
  };
}

/**
 * Limits what users and tenants have and spend, and shows operators what is used. A run that would begin, continue or be
 * copied beyond a quota is refused as `quota_exceeded`; one that would begin or continue beyond a budget as
 * `budget_exceeded`.
 */
export function limits({ quotas, budgets }: LimitOptions = {}): Extension {
  const quotasOf = createQuotasOf(quotas);
  const checks = new WeakMap<RunsHost, ReturnType<typeof createBudgetCheck>>();
  return {
    name: 'limits',
    routes: [OPERATOR_USAGE_ROUTE],
    start: (host) => {
      const { usage } = host.store;
      const announce = announceSpendTo(host.notify);
      checks.set(host, createBudgetCheck(budgets, { ...host, usage, announce }));
      warnOfUnpriced({ ...host, budgets });
    },
    before: async (begin, host) => {
      if (begin.purpose !== 'copy') await checks.get(host)?.(begin);
      return admitWithin(quotasOf(begin), begin, host.store);
    },
  };
}
