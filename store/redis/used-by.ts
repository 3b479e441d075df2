import type { Write } from './write-if.js';
import type { Charged } from './charged.js';
import type { OwnerKeys } from './keys.js';

/** Sums of a day are kept this long, which is enough for a report of a year. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000;
/** Budgets look at the current day and month. */
const SPEND_MS = 40 * 24 * 60 * 60 * 1000;
/** Field of the cost of all users of a slot; a user's own is escaped and cannot equal it. */
export const ALL = '*';
/** Position of the cost in a usage. */
const COST = 5;

/** Where the usage of a session is summed up. */
export interface UsedBy {
  owner: OwnerKeys;
  day: string;
  /** Hash of the day, by agent and model. */
  key: string;
  /** Agent and model, as a JSON list. */
  by: string;
}

/** What the usage of a session belongs to at this moment; undefined if it has ended no run. */
export function usedBy(
  owner: OwnerKeys,
  charged: Charged | undefined,
  now: number,
): UsedBy | undefined {
  if (charged === undefined || charged.standing.spent === '') return undefined;
  const day = toDay(now);
  return { owner, day, key: owner.used + day, by: JSON.stringify([charged.agent, charged.model]) };
}

/**
 * Adds to the sums of a day what a session has used since they were last added to. A session's usage only grows, so what
 * is missed is added by the next charge, and nothing twice.
 *
 * @param stored the sum of that agent and model
 */
export function addUsage(
  { owner, day, key, by }: UsedBy,
  stored: string | null,
  { now, before }: { now: string; before: string },
): Write[] {
  const counted = before.split(' ').map(Number);
  const more = now.split(' ').map((n, at) => Math.max(0, Number(n) - (counted[at] ?? 0)));
  const cost = more[COST] ?? 0;
  return [
    ['HSET', key, by, addTo(stored, more)],
    ['HSET', owner.users + day, owner.user, '1'],
    ['PEXPIRE', key, KEPT_MS],
    ['PEXPIRE', owner.users + day, KEPT_MS],
    ...[day, day.slice(0, 6)].flatMap((period): Write[] => {
      const spend = owner.spend + period;
      if (cost === 0) return [];
      return [
        ['HINCRBY', spend, owner.user, cost],
        ['HINCRBY', spend, ALL, cost],
        ['PEXPIRE', spend, SPEND_MS],
      ];
    }),
  ];
}

/** A sum with more, number by number. */
export function addTo(stored: string | null, more: readonly number[]): string {
  const before = (stored ?? '').split(' ').map(Number);
  return more.map((n, at) => n + (before[at] ?? 0)).join(' ');
}

/** UTC, `20261130`. */
export function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}
