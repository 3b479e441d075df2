import type { SessionOwner } from '../contract/waiting.js';
import type { Spending, Usage, UsageSum } from '../contract/usage.js';
import { fromUsage } from '../../session/record.js';
import { addTo, ALL, toDay, toMonth } from './charge.js';
import type { RedisContext } from './context.js';
import { ownerAt, parseOwner, type OwnerKeys } from './keys.js';
import { nextInOrder, type ScoredMember } from './scored-list.js';
import { untilWritten, type Check, type Write } from './write-if.js';

/** Prefix that stands for all forgotten users; parts of users begin with `u:`. */
const FORGOTTEN = 'f:';
const DAY_MS = 24 * 60 * 60 * 1000;
/** Number of past days whose sums are kept. */
const KEPT_DAYS = 400;
/** Index of the number of runs, after the six numbers of usage. */
const RUNS = 6;
const PAGE = 100;

export function createUsage({ redis, keys, writeIf, now }: RedisContext): Usage {
  /** Returns today and the past days that have sums, as `20261130`. */
  function sumDays(): string[] {
    const at = now();
    return Array.from({ length: KEPT_DAYS + 1 }, (_, n) => toDay(at - n * DAY_MS));
  }

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
    const seen = new Set<string>();
    let last: ScoredMember | undefined;
    for (;;) {
      const page = await nextInOrder(redis, keys.ownersIndex, last, PAGE);
      last = page.at(-1);
      if (last === undefined) return sums;
      // Sweepers move the owners that they repair to the end of the index.
      for (const { member } of page.filter((each) => !seen.has(each.member))) {
        seen.add(member);
        const owner = parseOwner(member);
        if (owner.tenant === undefined) sums.push(...(await readSlot(owner, days)));
      }
    }
  }

  /** Adds a user's usage of a day to the sums of forgotten users. */
  async function forget({ base, user, used, users, spend }: OwnerKeys, day: string): Promise<void> {
    const forgotten = ownerAt(base, FORGOTTEN).used + day;
    await untilWritten(async () => {
      const periods = [spend + day, spend + toMonth(day)];
      const [ofDay, ...costs] = await Promise.all([
        redis.hgetall(used + day),
        ...periods.map((period) => redis.hget(period, user)),
      ]);
      const sums = Object.entries(ofDay);
      if (sums.length === 0 && costs.every((cost) => cost === null)) return true;
      const writes: Write[] = [];
      if (sums.length > 0) {
        // The last field would take the time with it at which the list expires, so this one comes first.
        writes.push(['HSET', users + day, FORGOTTEN, '1']);
        writes.push(['HDEL', used + day, ...Object.keys(ofDay)]);
      }
      writes.push(['HDEL', users + day, user]);
      for (const period of periods) writes.push(['HDEL', period, user]);
      const checks: Check[] = [];
      for (const [by, sum] of sums) {
        const before = await redis.hget(forgotten, by);
        checks.push([sum, 'HGET', used + day, by], [before ?? '', 'HGET', forgotten, by]);
        writes.push(['HSET', forgotten, by, addTo(before, sum.split(' ').map(Number))]);
      }
      if (sums.length > 0) {
        const left = await redis.pttl(used + day);
        if (left > 0) writes.push(['PEXPIRE', forgotten, left]);
      }
      await writeIf(checks, writes, { isFreeing: true });
      // A sum of another agent or model may have come meanwhile.
      return undefined;
    });
  }

  return {
    read: async (tenant, { since, until }) => {
      const days = sumDays().filter((day) => since <= toDate(day) && toDate(day) <= until);
      return tenant === undefined ? readAlone(days) : readSlot({ owner: '', tenant }, days);
    },
    spent: async (owner) => {
      const { spend, user } = keys.owner(owner);
      const day = toDay(now());
      const read = async (period: string): Promise<number[]> => {
        const values = await redis.hmget(spend + period, user, ALL);
        return values.map((value) => Number(value ?? 0));
      };
      const [ofDay, ofMonth] = await Promise.all([read(day), read(toMonth(day))]);
      const at = (n: number): Spending => ({ day: ofDay[n] ?? 0, month: ofMonth[n] ?? 0 });
      return { user: at(0), tenant: at(1) };
    },
    forget: async (owner) => {
      for (const day of sumDays()) await forget(keys.owner(owner), day);
    },
  };
}

function toDate(day: string): string {
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
}

function toSum(day: string, part: string, by: string, numbers: string): UsageSum {
  const [agent, model] = JSON.parse(by) as [string, string];
  const each = numbers.split(' ').map(Number);
  return {
    day: toDate(day),
    owner: part === FORGOTTEN ? undefined : decodeURIComponent(part.slice(FORGOTTEN.length)),
    agent,
    model,
    runs: each[RUNS] ?? 0,
    ...fromUsage(each.slice(0, RUNS)),
  };
}
