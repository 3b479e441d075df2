import { isLoopback } from '../../config/startup.js';
import { HelixError } from '../../protocol/errors.js';
import { ANONYMOUS } from '../../protocol/ids.js';
import { COUNTED, type OwnerCounts } from '../../store/contract/owners.js';
import type { SessionOwner } from '../../store/contract/waiting.js';

/** Limits of one user, and of all users of a tenant together. */
export interface Quotas {
  user: OwnerCounts;
  tenant: OwnerCounts;
}

const MEGABYTE = 1024 * 1024;

/** Quotas by the names of settings; all are optional. */
export interface QuotaSettings {
  QUOTA_RUNS?: number | undefined;
  QUOTA_QUEUED?: number | undefined;
  QUOTA_SESSIONS?: number | undefined;
  QUOTA_MB?: number | undefined;
  QUOTA_TENANT_FACTOR?: number | undefined;
}

/** Returns the quotas of the settings; undefined if no quota of users is set. */
export function quotasOfSettings(settings: QuotaSettings): Quotas | undefined {
  const { QUOTA_RUNS, QUOTA_QUEUED, QUOTA_SESSIONS, QUOTA_MB, QUOTA_TENANT_FACTOR } = settings;
  const user = {
    ...(QUOTA_RUNS !== undefined && { runs: QUOTA_RUNS }),
    ...(QUOTA_QUEUED !== undefined && { queued: QUOTA_QUEUED }),
    ...(QUOTA_SESSIONS !== undefined && { sessions: QUOTA_SESSIONS }),
    ...(QUOTA_MB !== undefined && { bytes: QUOTA_MB * MEGABYTE }),
  };
  return Object.keys(user).length === 0 ? undefined : toQuotas(user, QUOTA_TENANT_FACTOR);
}

/** Reads the quotas of an API. An open server on loopback is unlimited unless a quota is set. */
export function readQuotas(
  settings: QuotaSettings & { HOST: string },
  { isOpen }: { isOpen: boolean },
): Quotas | 'unlimited' {
  const quotas = quotasOfSettings(settings);
  if (quotas === undefined && isOpen && isLoopback(settings.HOST)) return 'unlimited';
  return quotas ?? toQuotas(undefined, settings.QUOTA_TENANT_FACTOR);
}

/** The default limits of a user. */
const USER: OwnerCounts = { runs: 20, queued: 10, sessions: 1_000, bytes: 256 * MEGABYTE };
/** A tenant's limits are this multiple of a user's. */
const TENANT_FACTOR = 50;

/** Returns the default quotas with some of a user's numbers replaced. */
export function toQuotas(user: Partial<OwnerCounts> = {}, tenantFactor = TENANT_FACTOR): Quotas {
  const ofUser = { ...USER, ...user };
  const ofTenant = { ...ofUser };
  for (const what of COUNTED) ofTenant[what] *= tenantFactor;
  return { user: ofUser, tenant: ofTenant };
}

/**
 * Returns a lookup of an owner's quotas. By default the unnamed user has none: a program that names
 * no users owns all sessions as that user.
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

/** A limit that a request would exceed. */
export interface QuotaExceeded {
  what: keyof OwnerCounts;
  of: keyof Quotas;
  limit: number;
  /** Current usage. */
  used: number;
}

/** Creates the refusal of a request beyond a limit. */
export function quotaExceeded({ what, of, limit, used }: QuotaExceeded): HelixError {
  const number = what === 'bytes' ? `${String(Math.round(limit / MEGABYTE))} MB` : String(limit);
  const whose = of === 'tenant' ? 'In your organisation: ' : '';
  return new HelixError('quota_exceeded', `${whose}${WORDS[what](number)}`, {
    detail: { what, of, limit, used },
  });
}
