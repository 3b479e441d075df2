import type { SessionOwner } from '../contract/waiting.js';
import type { Spending, Usage, UsageSum } from '../contract/usage.js';
import { fromUsage } from '../../session/record.js';
import { parseOwner, type Charged } from './charged.js';
import type { RedisContext } from './context.js';
import { ownerAt, type OwnerKeys } from './keys.js';
import { untilWritten, type Check, type Write } from './write-if.js';

/** Retention of a day's sums, enough for a report of a year. */
const KEPT_MS = 400 * 24 * 60 * 60 * 1000;
/** Retention of spending; budgets need only the current day and month. */
const SPEND_MS = 40 * 24 * 60 * 60 * 1000;
/** Field with the cost of all users of a slot; a user's own field is escaped and cannot equal it. */
const ALL = '*';
/** Index of the cost in a usage. */
const COST = 5;

/** Prefix that stands for all forgotten users; parts of users begin with `u:`. */
const FORGOTTEN = 'f:';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum number of days in one report. */
const MOST_DAYS = 400;
/** Index of the number of runs, after the six numbers of usage. */
const RUNS = 6;
/** Number of users read at once. */
const PAGE = 100;

export function createUsage({ redis, keys, writeIf, now }: RedisContext): Usage {
  /** Reads the sums of all users of a slot on one day. */
  async function readDay({ base, users }: OwnerKeys, day: string): Promise<UsageSum[]> {
    const parts = Object.keys(await redis.hgetall(users + day));
    const sums: UsageSum[] = [];
    for (let from = 0; from < parts.length; from += PAGE) {
      const page = parts.slice(from, from + PAGE);
      const read = page.map((part) => redis.hgetall(ownerAt(base, part).used + day));
      const found = await Promise.all(read);
      for (const [at, part] of page.entries()) {
        const entries = Object.entries(found[at] ?? {});
        sums.push(...entries.map(([by, numbers]) => toSum(day, part, by, numbers)));
      }
    }
    return sums;
  }

  async function readSlot(of: SessionOwner, days: readonly string[]): Promise<UsageSum[]> {
    return (await Promise.all(days.map((day) => readDay(keys.owner(of), day)))).flat();
  }

  /** Reads the sums of users without a tenant, who have a slot each. */
  async function readAlone(days: readonly string[]): Promise<UsageSum[]> {
    const sums: UsageSum[] = [];
    for (let from = 0; ; from += PAGE) {
      const page = await redis.zrangebyscore(keys.ownersIndex, '-inf', '+inf', 'LIMIT', from, PAGE);
      const alone = page.map(parseOwner).filter(({ tenant }) => tenant === undefined);
      for (const owner of alone) sums.push(...(await readSlot(owner, days)));
      if (page.length < PAGE) return sums;
    }
  }

  /** Adds a user's usage of a day to the sums of forgotten users. */
  async function forget({ base, user, used, users, spend }: OwnerKeys, day: string): Promise<void> {
    const forgotten = ownerAt(base, FORGOTTEN).used + day;
    await untilWritten(async () => {
      const periods = [day, day.slice(0, 6)].map((period) => spend + period);
      const costs = Promise.all(periods.map((period) => redis.hget(period, user)));
      const sums = Object.entries(await redis.hgetall(used + day));
      if (sums.length === 0 && (await costs).every((cost) => cost === null)) return true;
      const writes: Write[] = [
        ['HDEL', users + day, user],
        ['UNLINK', used + day],
      ];
      for (const period of periods) writes.push(['HDEL', period, user]);
      const checks: Check[] = [];
      for (const [by, sum] of sums) {
        const before = await redis.hget(forgotten, by);
        checks.push([sum, 'HGET', used + day, by], [before ?? '', 'HGET', forgotten, by]);
        writes.push(['HSET', forgotten, by, addTo(before, sum.split(' ').map(Number))]);
      }
      if (sums.length > 0) {
        writes.push(['HSET', users + day, FORGOTTEN, '1']);
        const left = await redis.pttl(used + day);
        if (left > 0) writes.push(['PEXPIRE', forgotten, left]);
      }
      return (await writeIf(checks, writes, { isFreeing: true })) || undefined;
    });
  }

  return {
    read: async (tenant, { since, until }) => {
      const days = daysBetween(since, until);
      return tenant === undefined ? readAlone(days) : readSlot({ owner: '', tenant }, days);
    },
    spent: async (owner) => {
      const { spend, user } = keys.owner(owner);
      const day = toDay(now());
      const read = async (period: string): Promise<number[]> => {
        const values = await redis.hmget(spend + period, user, ALL);
        return values.map((value) => Number(value ?? 0));
      };
      const [ofDay, ofMonth] = await Promise.all([read(day), read(day.slice(0, 6))]);
      const at = (n: number): Spending => ({ day: ofDay[n] ?? 0, month: ofMonth[n] ?? 0 });
      return { user: at(0), tenant: at(1) };
    },
    forget: async (owner) => {
      for (const day of daysBetween(toDate(now() - MOST_DAYS * DAY_MS), toDate(now()))) {
        await forget(keys.owner(owner), day);
      }
    },
  };
}

/** Returns days in the form of keys. */
function daysBetween(since: string, until: string): string[] {
  const days: string[] = [];
  const last = Date.parse(until);
  for (let at = Date.parse(since); at <= last && days.length <= MOST_DAYS; at += DAY_MS) {
    days.push(toDay(at));
  }
  return days;
}

function toDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function toSum(day: string, part: string, by: string, numbers: string): UsageSum {
  const [agent, model] = JSON.parse(by) as [string, string];
  const each = numbers.split(' ').map(Number);
  return {
    day: `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`,
    owner: part === FORGOTTEN ? undefined : decodeURIComponent(part.slice(FORGOTTEN.length)),
    agent,
    model,
    runs: each[RUNS] ?? 0,
    ...fromUsage(each.slice(0, RUNS)),
  };
}

/**
 * Returns the sums to which a session's usage belongs now, by the JSON list of agent and model; undefined if it has
 * ended no run.
 */
export function usedBy(owner: OwnerKeys, charged: Charged | undefined, now: number) {
  if (charged === undefined || charged.standing.spent === '') return undefined;
  const day = toDay(now);
  return { owner, day, key: owner.used + day, by: JSON.stringify([charged.agent, charged.model]) };
}

/**
 * Adds a session's usage since the last charge to the sums of a day. A session's usage only grows, so the next charge
 * adds what an earlier one missed, and nothing is added twice.
 *
 * @param stored the sum of that agent and model
 */
export function addUsage(
  { owner, day, key, by }: NonNullable<ReturnType<typeof usedBy>>,
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

/** Adds numbers to a stored sum, one by one. */
function addTo(stored: string | null, more: readonly number[]): string {
  const before = (stored ?? '').split(' ').map(Number);
  return more.map((n, at) => n + (before[at] ?? 0)).join(' ');
}

/** Formats a day, UTC, as `20261130`. */
function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}
