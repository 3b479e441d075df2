import { HelixError } from '../protocol/errors.js';
import { ANONYMOUS } from '../protocol/ids.js';
import type { OwnerCounts, QuotaExceeded } from '../stores/contract/owners.js';
import type { SessionOwner } from '../stores/contract/waiting.js';

/** How much one user may have, and all users of a tenant together. */
export interface Quotas {
  user: OwnerCounts;
  tenant: OwnerCounts;
}

const MEGABYTE = 1024 * 1024;

/** What a user may have, unless it is set otherwise. */
const USER: OwnerCounts = { runs: 20, queued: 10, sessions: 1_000, bytes: 256 * MEGABYTE };
/** As many times that for a tenant. */
const TENANT_FACTOR = 50;

/** Quotas with some numbers of a user's replaced. */
export function toQuotas(user: Partial<OwnerCounts> = {}, tenantFactor = TENANT_FACTOR): Quotas {
  const { runs, queued, sessions, bytes } = { ...USER, ...user };
  return {
    user: { runs, queued, sessions, bytes },
    tenant: {
      runs: runs * tenantFactor,
      queued: queued * tenantFactor,
      sessions: sessions * tenantFactor,
      bytes: bytes * tenantFactor,
    },
  };
}

/**
 * The quotas of an owner. By default the unnamed user has none: a program that names no users is one
 * user, with all of its sessions.
 */
export function createQuotasOf(
  quotas: Quotas | 'unlimited' | undefined,
): (owner: SessionOwner) => Quotas | undefined {
  if (quotas !== undefined) return () => (quotas === 'unlimited' ? undefined : quotas);
  const usual = toQuotas();
  return ({ owner, tenant }) => (owner === ANONYMOUS && tenant === undefined ? undefined : usual);
}

const WORDS: Record<keyof OwnerCounts, (limit: string) => string> = {
  runs: (limit) =>
    `${limit} answers are being written at once, as many as may be. Try again when one has ended.`,
  queued: (limit) =>
    `${limit} messages wait for their turn, as many as may be. Try again when one was answered.`,
  sessions: (limit) =>
    `There are ${limit} conversations, as many as may be. Delete some to begin others.`,
  bytes: (limit) => `The conversations hold ${limit}, as much as may be. Delete some to continue.`,
};

/** The refusal of what would go beyond a limit. */
export function quotaExceeded({ what, of, limit, used }: QuotaExceeded): HelixError {
  const number = what === 'bytes' ? `${String(Math.round(limit / MEGABYTE))} MB` : String(limit);
  const whose = of === 'tenant' ? 'In your organisation: ' : '';
  return new HelixError('quota_exceeded', `${whose}${WORDS[what](number)}`, {
    detail: { what, of, limit, used },
  });
}
