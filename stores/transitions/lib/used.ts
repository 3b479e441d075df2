import { formatInt, redis } from './host.js';
import type { Owner } from './owner.js';
import { num } from './request.js';
import { sumOf } from './usage.js';

/** What usage belongs to, and the time that it is counted for. */
export interface UsedBy {
  /** Agent and model, as a JSON list. */
  by: string;
  /** UTC, `20261130`. */
  day: string;
  /** UTC, `202611`. */
  month: string;
  /** How long the sums of a day are kept, ms. */
  keepMs: number;
}

/** Field of the cost of all users of a slot; a user's own is escaped and cannot equal it. */
export const ALL = '*';
/** Position of the cost in a usage. */
const COST = 5;
/** Budgets look at the current day and month. */
const SPEND_MS = 40 * 24 * 60 * 60 * 1000;

/**
 * Adds to an owner's sums what a session has used since they were last added to. A session's usage only
 * grows, so what is missed is added by the next fold, and nothing twice.
 */
export function addUsed(
  owner: Owner,
  { by, day, month, keepMs }: UsedBy,
  now: string | undefined,
  before: string | undefined,
): void {
  if (now === undefined || now === '' || now === before) return;
  const counted = before === undefined || before === '' ? [] : before.split(' ');
  const more: string[] = [];
  for (const n of now.split(' ')) {
    more.push(formatInt(Math.max(0, num(n) - num(counted[more.length]))));
  }
  addToDay(owner, day, by, more.join(' '));
  redis.call('PEXPIRE', `${owner.used}${day}`, formatInt(keepMs));
  redis.call('PEXPIRE', `${owner.users}${day}`, formatInt(keepMs));
  const cost = more[COST] ?? '0';
  if (cost === '0') return;
  for (const period of [day, month]) {
    const spend = `${owner.spend}${period}`;
    redis.call('HINCRBY', spend, owner.user, cost);
    redis.call('HINCRBY', spend, ALL, cost);
    redis.call('PEXPIRE', spend, formatInt(SPEND_MS));
  }
}

export function addToDay(owner: Owner, day: string, by: string, more: string): void {
  const used = `${owner.used}${day}`;
  const stored = redis.call('HGET', used, by);
  redis.call('HSET', used, by, sumOf(more, stored === false ? undefined : stored));
  redis.call('HSET', `${owner.users}${day}`, owner.user, '1');
}
