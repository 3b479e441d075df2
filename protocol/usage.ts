import { z } from 'zod';
import { Usage } from './chunk.js';

/** Requests and replies of `GET /api/operator/usage`. Days are UTC. */

const day = z.iso.date();
const count = z.number();

const DEFAULT_GROUPS = ['day', 'owner', 'agent', 'model'] as const;
/** Groupings of the sums. A report covers one tenant, whose name each row has with `tenant`. */
export const USAGE_GROUPS = ['tenant', ...DEFAULT_GROUPS] as const;

export const UsageQuery = z.object({
  since: day.optional(),
  until: day.optional(),
  /** Comma-separated names of groups. Default: all but `tenant`. */
  by: z
    .string()
    .transform((names) => names.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(USAGE_GROUPS)))
    .default([...DEFAULT_GROUPS]),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

/** Sums of one group. Fields of other groupings are absent; so is `owner` for erased people. */
export const UsageRow = z.object({
  /** Empty without tenants. */
  tenant: z.string().optional(),
  day: day.optional(),
  owner: z.string().optional(),
  agent: z.string().optional(),
  /** Empty for runs whose model never answered. */
  model: z.string().optional(),
  runs: count,
  ...Usage.shape,
  /** Millionths of a US dollar; absent without prices. */
  costMicroUsd: count.optional(),
});
export type UsageRow = z.infer<typeof UsageRow>;

export const UsageReply = z.object({ since: day, until: day, usage: z.array(UsageRow) });
export type UsageReply = z.infer<typeof UsageReply>;

/** Cleans a token count: providers have reported NaN and null. Pure. */
export function toTokenCount(tokens: number | null | undefined): number | undefined {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens)) return undefined;
  return Math.min(Math.max(0, Math.round(tokens)), 1_000_000_000);
}
