/** How long entries of the audit trail are kept, seconds: the same for all tenants, or by tenant. 0: no limit. */
export type AuditTtl = number | ((tenant: string | undefined) => number);

/** The same in ms; `''` stands for those without a tenant. */
export function toKeptMs(ttl: AuditTtl): (tenant: string) => number {
  if (typeof ttl === 'number') return () => ttl * 1000;
  return (tenant) => ttl(tenant === '' ? undefined : tenant) * 1000;
}
