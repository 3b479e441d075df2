import type { Audit, AuditFeed, ChainedEntry } from '../contract/audit.js';
import type { StoredEntry } from '../record/audit-chain.js';
import { parseEntry, toStored } from './audit-pages.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

export interface AuditFeeds {
  follow: Audit['follow'];
  /** Before entries are appended behind a head, so that they are found though this process dies meanwhile. */
  note: (tenant: string, headNumber: number) => Promise<void>;
}

function readable(stored: StoredEntry): Omit<ChainedEntry, 'name'>[] {
  try {
    return [{ n: stored.n, entry: parseEntry(stored) }];
  } catch {
    return [];
  }
}

/**
 * What is passed on is read from the chain itself. A fleet's position is in the tenant's head, so
 * that a Redis which lost its newest writes has lost both alike.
 */
export function createAuditFeeds({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): AuditFeeds {
  const followed = new Map<string, (tenant: string | undefined) => boolean>();
  const positionOf = (fleet: string): string => `passed:${fleet}`;

  return {
    note: async (tenant, headNumber) => {
      for (const [fleet, isWanted] of followed) {
        if (!isWanted(tenant === '' ? undefined : tenant)) continue;
        const { head } = keys.audit(tenant);
        await callRedis(redis.hsetnx(keys.auditFeed(fleet).tenants, tenant, ''));
        await callRedis(redis.hsetnx(head, positionOf(fleet), String(headNumber)));
      }
    },
    follow: (fleet, isWanted) => {
      followed.set(fleet, isWanted);
      const { tenants, lease } = keys.auditFeed(fleet);
      const feed: AuditFeed = {
        lease: async (holder, forMs) =>
          (await callRedis(redis.set(lease, holder, 'PX', forMs, 'NX'))) === 'OK',
        tenants: async () =>
          (await callRedis(redis.hkeys(tenants))).filter((tenant) =>
            isWanted(tenant === '' ? undefined : tenant),
          ),
        next: async (tenant, most) => {
          const { head, chain } = keys.audit(tenant);
          const [n, passed] = await callRedis(redis.hmget(head, 'n', positionOf(fleet)));
          if (n == null || passed == null || Number(passed) >= Number(n)) return undefined;
          const page = await callRedis(
            redis.xrange(chain, `(${passed}-0`, `${n}-0`, 'COUNT', most),
          );
          // Old entries are dropped, also those that could not be passed on until then.
          if (page.length === 0) return { entries: [], upTo: Number(n) };
          const entries = page.flatMap(([id, fields]) => {
            const stored = toStored(id, fields);
            // One that was changed is a matter of `verify`; it holds up none behind it.
            return stored === undefined ? [] : readable(stored);
          });
          return { entries, upTo: Number(page.at(-1)?.[0].split('-')[0]) };
        },
        passed: async (tenant, n) => {
          await callRedis(redis.hset(keys.audit(tenant).head, positionOf(fleet), String(n)));
        },
      };
      return feed;
    },
  };
}
