import { z } from 'zod';

/** `acme=31536000,rival=0`: seconds by tenant. */
export const secondsByTenant = z
  .string()
  .transform((text) => text.split(',').map((item) => /^(.+)=(\d{1,10})$/.exec(item.trim())))
  .refine((pairs) => !pairs.includes(null), 'must be tenant=seconds, separated by commas')
  .transform((pairs) => new Map(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])])));

/** Returns the retention of a tenant's audit trail, s. */
export function readAuditTtl({
  AUDIT_TTL,
  AUDIT_TTL_TENANTS,
}: {
  AUDIT_TTL: number;
  AUDIT_TTL_TENANTS?: ReadonlyMap<string, number> | undefined;
}): (tenant: string | undefined) => number {
  return (tenant = '') => AUDIT_TTL_TENANTS?.get(tenant) ?? AUDIT_TTL;
}
