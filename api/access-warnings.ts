import type { Config } from '../config/env.js';

/** The layout of records in which tenants have session ids of their own. */
const TENANTS_APART = 2;

/** What is allowed, but lets in more than an operator may think. */
export function warnOfAccess(config: Config, hasAccounts: boolean): string[] {
  if (!hasAccounts) return ['nobody signs in: everybody who reaches the api is the same user'];
  const warnings: string[] = [];
  if (config.JWT_JWKS_URL !== undefined && config.JWT_AUDIENCE === undefined) {
    warnings.push('JWT_AUDIENCE is not set: tokens that the issuer gives to others count as well');
  }
  if (config.RECORD_LAYOUT < TENANTS_APART) {
    warnings.push('tenants share the ids of their sessions until RECORD_LAYOUT is 2');
  }
  return warnings;
}
