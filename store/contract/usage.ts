import { fromUsage, sumOf, toUsage } from '../../session/record.js';
import type { RunUsage } from './runs.js';
import type { SessionOwner } from './waiting.js';

/** What one user has used of one agent with one model on one day. */
export interface UsageSum extends RunUsage {
  /** UTC, `2026-11-30`; the day on which the runs ended. */
  day: string;
  /** Absent once the person was forgotten. */
  owner?: string | undefined;
  agent: string;
  /** Of the last step; empty for runs whose model never answered. */
  model: string;
  /** Runs that ended. */
  runs: number;
}

/** Millionths of a dollar since the beginning of the day and of the month, UTC. */
export interface Spending {
  day: number;
  month: number;
}

/**
 * Usage of ended runs, summed up in the slot of the tenant. Each run counts once, a moment after its
 * end; sub-agents count with their conversation, and attempts that were lost as far as they were
 * streamed.
 */
export interface Usage {
  /**
   * The sums of these days, UTC, `2026-11-30`, both included; of all users without a tenant if none is
   * named. They are kept for 400 days.
   */
  read: (tenant: string | undefined, days: { since: string; until: string }) => Promise<UsageSum[]>;
  /** What a user, and all users of the tenant together, have spent. */
  spent: (owner: SessionOwner) => Promise<{ user: Spending; tenant: Spending }>;
  /** Removes a person's name from the sums, which stay. */
  forget: (owner: SessionOwner) => Promise<void>;
}

/** Both together; undefined if neither is known. */
export function addUsage(a: RunUsage | undefined, b: RunUsage | undefined): RunUsage | undefined {
  return a === undefined || b === undefined ? (a ?? b) : fromUsage(sumOf(toUsage(a), toUsage(b)));
}
