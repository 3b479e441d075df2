import { fromUsage, sumOf, toUsage } from '../../session/record.js';
import type { RunUsage } from './runs.js';
import type { SessionOwner } from './waiting.js';

/** One user's usage of one agent with one model on one day. */
export interface UsageSum extends RunUsage {
  /** Day on which the runs ended, UTC, `2026-11-30`. */
  day: string;
  /** Absent once the person was forgotten. */
  owner?: string | undefined;
  agent: string;
  /** Model of the last step; empty if no model answered. */
  model: string;
  runs: number;
}

/** Spending of this day and this month, UTC, in millionths of a dollar. */
export interface Spending {
  day: number;
  month: number;
}

/**
 * Usage of ended runs, summed up per tenant. Each run counts once, soon after its end. Sub-agents count with their
 * conversation, and lost attempts as far as they streamed.
 */
export interface Usage {
  /** The sums of these days, both included, UTC, kept for 400 days; without `tenant`, of all users without one. */
  read: (tenant: string | undefined, days: { since: string; until: string }) => Promise<UsageSum[]>;
  /** Spending of a user, and of all users of the tenant. */
  spent: (owner: SessionOwner) => Promise<{ user: Spending; tenant: Spending }>;
  /** Removes a person's name from the sums; the sums stay. */
  forget: (owner: SessionOwner) => Promise<void>;
}

/** Adds both usages; undefined if neither is known. */
export function addUsage(a: RunUsage | undefined, b: RunUsage | undefined): RunUsage | undefined {
  return a === undefined || b === undefined ? (a ?? b) : fromUsage(sumOf(toUsage(a), toUsage(b)));
}
