import { withTimeout } from '../../protocol/time.js';
import type { Audit, AuditEntry, AuditFeed, FedEntry, FedTenant } from '../contract/audit.js';
import type { StoredEntry } from '../record/audit-chain.js';
import { createTakenLists } from './due-lists.js';
import { untilWritten } from '../../store/redis/write-if.js';
import { parseEntry, toStored } from './audit-pages.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

export interface AuditFeeds {
  follow: Audit['follow'];
  /** Before entries are appended behind a head, so that they are found though this process dies meanwhile. */
  note: (tenant: string, headNumber: number) => Promise<void>;
}

interface Followed {
  isWanted: (tenant: string | undefined) => boolean;
  /** Tenants that could not be listed. */
  unlisted: Set<string>;
}

/** An append waits this long for a feed that is away. */
const LIST_MS = 1_000;
/** A tenant with nothing left is looked at once more after this long: far more than an append takes. */
const REST_MS = 60_000;

const positionOf = (fleet: string): string => `passed:${fleet}`;
const numberOf = (id: string): number => Number(id.split('-')[0]);

/** An entry that was changed is a matter of `verify`; it holds up none behind it. */
function readable({ stored }: { stored: StoredEntry | undefined }): FedEntry[] {
  if (stored === undefined) return [];
  try {
    const entry = parseEntry(stored) as Partial<AuditEntry> | null;
    const { id, at, target, roles = [] } = entry ?? {};
    const isWhole = typeof id === 'string' && Number.isFinite(at) && typeof target === 'object';
    return isWhole && Array.isArray(roles) ? [{ n: stored.n, entry: entry as AuditEntry }] : [];
  } catch {
    return [];
  }
}

/**
 * What is passed on is read from the chain itself. A fleet's position is in the tenant's head, so
 * that a Redis which lost its newest writes has lost both alike. Which tenants have something to pass
 * on is listed for the fleet, in a slot of its own.
 */
export function createAuditFeeds(
  context: Pick<RedisContext, 'redis' | 'keys' | 'writeIf' | 'now'>,
): AuditFeeds {
  const { redis, keys, writeIf, now } = context;
  const { takeFrom, move } = createTakenLists(context);
  const followed = new Map<string, Followed>();

  /** The chain does not depend on the feed: one that is away lists the tenant with the next entry. */
  async function list(fleet: string, unlisted: Set<string>, tenant: string): Promise<void> {
    unlisted.add(tenant);
    const tenants = [...unlisted];
    // Not later than before: a tenant with many entries keeps its place.
    const scores = tenants.flatMap((each) => [now(), each]);
    try {
      const { due } = keys.auditFeed(fleet);
      await withTimeout(LIST_MS, callRedis(redis.zadd(due, 'LT', ...scores)));
    } catch {
      return;
    }
    for (const each of tenants) unlisted.delete(each);
  }

  function feedOf(fleet: string, isWanted: Followed['isWanted']): AuditFeed {
    const { lease, ...lists } = keys.auditFeed(fleet);

    async function take(
      list: FedTenant['list'],
      takenUntil: number,
    ): Promise<FedTenant | undefined> {
      const [tenant] = await takeFrom(lists[list], takenUntil, 1);
      return tenant === undefined ? undefined : { tenant, list, takenUntil };
    }

    return {
      lease: async (holder, forMs) =>
        (await callRedis(redis.set(lease, holder, 'PX', forMs, 'NX'))) === 'OK',
      take: async (forMs) => {
        const until = now() + forMs;
        return (await take('due', until)) ?? (await take('resting', until));
      },
      again: async ({ tenant, list, takenUntil }, inMs) => {
        await move(lists[list], lists.due, tenant, takenUntil, now() + inMs);
      },
      rest: async ({ tenant, list, takenUntil }) => {
        const at = list === 'due' ? now() + REST_MS : undefined;
        await move(lists[list], lists.resting, tenant, takenUntil, at);
      },
      next: async (tenant, most) => {
        if (!isWanted(tenant === '' ? undefined : tenant)) return undefined;
        const { head, chain } = keys.audit(tenant);
        const [n, passed] = await callRedis(redis.hmget(head, 'n', positionOf(fleet)));
        if (n == null || passed == null || Number(passed) >= Number(n)) return undefined;
        const found = await callRedis(
          redis.xrange(chain, `${passed}-0`, `${n}-0`, 'COUNT', most + 1),
        );
        const page = found.map(([id, fields]) => ({
          n: numberOf(id),
          stored: toStored(id, fields),
        }));
        const left = page.filter((each) => each.n > Number(passed)).slice(0, most);
        return {
          last: page.filter((each) => each.n === Number(passed)).flatMap(readable)[0],
          entries: left.flatMap(readable),
          // Old entries are dropped, also those that could not be passed on until then.
          upTo: left.at(-1)?.n ?? Number(n),
        };
      },
      passed: (tenant, n) =>
        untilWritten(async () => {
          const [{ head }, field] = [keys.audit(tenant), positionOf(fleet)];
          const before = await callRedis(redis.hget(head, field));
          // Another process may have come further; a position that is gone with its head stays gone.
          if (before === null || Number(before) >= n) return true;
          const isRaised = await writeIf(
            [[before, 'HGET', head, field]],
            [['HSET', head, field, n]],
          );
          return isRaised || undefined;
        }).then(() => undefined),
    };
  }

  return {
    note: async (tenant, headNumber) => {
      for (const [fleet, { isWanted, unlisted }] of followed) {
        if (!isWanted(tenant === '' ? undefined : tenant)) continue;
        const { head } = keys.audit(tenant);
        await callRedis(redis.hsetnx(head, positionOf(fleet), String(headNumber)));
        await list(fleet, unlisted, tenant);
      }
    },
    follow: (fleet, isWanted) => {
      followed.set(fleet, { isWanted, unlisted: new Set() });
      return feedOf(fleet, isWanted);
    },
  };
}
