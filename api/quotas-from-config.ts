import { isLoopback } from '../config/loopback.js';
import type { Config } from '../config/env.js';
import { quotasOfSettings, toQuotas, type Quotas } from '../executor/quotas.js';

/**
 * The quotas of users and tenants, from the settings. An open server that only this machine reaches
 * is unlimited unless a quota is set.
 */
export function readQuotas(config: Config, { isOpen }: { isOpen: boolean }): Quotas | 'unlimited' {
  const quotas = quotasOfSettings(config);
  if (quotas === undefined && isOpen && isLoopback(config.HOST)) return 'unlimited';
  return quotas ?? toQuotas(undefined, config.QUOTA_TENANT_FACTOR);
}
