import { isLoopback } from '../config/loopback.js';
import type { Config } from '../config/env.js';
import type { Budgets } from '../executor/budgets.js';
import { toQuotas, type Quotas } from '../executor/quotas.js';

const MEGABYTE = 1024 * 1024;

/**
 * The quotas of users and tenants, from the settings. An open server that only this machine reaches
 * is unlimited unless a quota is set.
 */
export function readQuotas(config: Config, { isOpen }: { isOpen: boolean }): Quotas | 'unlimited' {
  const { QUOTA_RUNS, QUOTA_QUEUED, QUOTA_SESSIONS, QUOTA_MB, QUOTA_TENANT_FACTOR } = config;
  const user = {
    ...(QUOTA_RUNS !== undefined && { runs: QUOTA_RUNS }),
    ...(QUOTA_QUEUED !== undefined && { queued: QUOTA_QUEUED }),
    ...(QUOTA_SESSIONS !== undefined && { sessions: QUOTA_SESSIONS }),
    ...(QUOTA_MB !== undefined && { bytes: QUOTA_MB * MEGABYTE }),
  };
  const isSet = Object.keys(user).length > 0;
  if (isOpen && isLoopback(config.HOST) && !isSet) return 'unlimited';
  return toQuotas(user, QUOTA_TENANT_FACTOR);
}

/** The budgets from the settings; undefined without any. */
export function readBudgets(config: Config): Budgets | undefined {
  const user = { dayUsd: config.BUDGET_USER_DAY_USD, monthUsd: config.BUDGET_USER_MONTH_USD };
  const tenant = { dayUsd: config.BUDGET_TENANT_DAY_USD, monthUsd: config.BUDGET_TENANT_MONTH_USD };
  const isSet = [user, tenant].flatMap(Object.values).some((usd) => usd !== undefined);
  return isSet ? { user, tenant, action: config.BUDGET_ACTION } : undefined;
}
