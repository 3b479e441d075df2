/**
 * How long entries of the audit trail are kept, seconds: the same for all tenants, or by tenant. 0: no limit;
 * so are undefined, NaN, infinity and what is negative.
 */
export type AuditTtl = number | ((tenant: string | undefined) => number);

/** The same in ms; `''` stands for those without a tenant. */
export function toKeptMs(ttl: AuditTtl): (tenant: string) => number {
  const read = typeof ttl === 'function' ? ttl : () => ttl;
  return (tenant) => {
    const seconds = read(tenant === '' ? undefined : tenant);
    // A function without an answer for a tenant must not cost the trail: a wrong one keeps all, too.
    return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
  };
}
