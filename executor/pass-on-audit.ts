import { wants } from '../notify/receivers.js';
import type { NotifySettings } from '../notify/settings.js';
import type { Notice } from '../protocol/notices.js';
import { withTimeout } from '../protocol/time.js';
import type { Audit, AuditFeed, FedEntry, FedTenant } from '../stores/contract/audit.js';
import type { Deliveries } from './deliveries.js';
import { toNoticeId } from './delivery-ids.js';
import { inLanes } from './in-lanes.js';

/** A fleet looks this often for entries that were not passed on. */
const INTERVAL_MS = 1_000;
/** Entries that a look passes on, of all tenants: a part of what the queue of notices takes, which questions share. */
const MOST = 10;
/** A look ends with this many tenants, or after this time. */
const MOST_TENANTS = 50;
const LOOK_MS = 5_000;
/** A look waits this long for a tenant, and no other process takes it for longer than that. */
const TENANT_MS = 8_000;
const TAKEN_MS = 15_000;
/** One that could not be passed on, or whose receiver has yet to take what was, is looked at after this. */
const AGAIN_MS = 2_000;

/**
 * Notes what this process appends to the trails, for receivers of `audit.entry`; without such a
 * receiver it is undefined, and nothing is noted. The API follows as well, and workers pass on.
 */
export function followAudit(
  audit: Pick<Audit, 'follow'>,
  fleet: string,
  settings: Pick<NotifySettings, 'receivers'> | undefined,
): AuditFeed | undefined {
  const receivers = (settings?.receivers ?? []).filter((each) =>
    wants(each, 'audit.entry', each.tenant ?? undefined),
  );
  if (receivers.length === 0) return undefined;
  return audit.follow(fleet, (tenant) =>
    receivers.some((each) => wants(each, 'audit.entry', tenant)),
  );
}

export interface PassOnDeps {
  feed: AuditFeed;
  deliveries: Pick<Deliveries, 'announce' | 'isUnderWay'>;
  /** Names this process: one of a fleet looks at a time. */
  holder: string;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Begins the deliveries of entries that were not passed on. The id of a delivery is made of the
 * entry's, so what is begun again after a crash is begun once. While a receiver does not take what it
 * was sent last, entries wait in the chain and not as deliveries.
 */
export function createPassOnAudit({
  feed,
  deliveries,
  holder,
  logger,
}: PassOnDeps): () => Promise<void> {
  const waiting = new Set<string>();

  async function passOn(taken: FedTenant, budget: { entries: number }): Promise<void> {
    const { tenant } = taken;
    const found = await feed.next(tenant, budget.entries);
    if (found === undefined) return feed.rest(taken);
    const { last, entries, upTo } = found;
    if (last !== undefined && (await deliveries.isUnderWay(toNotice(tenant, last)))) {
      return feed.again(taken, AGAIN_MS);
    }
    await inLanes(entries, MOST, async (each) => {
      await deliveries.announce(toNotice(tenant, each));
      budget.entries -= 1;
    });
    await feed.passed(tenant, upTo);
    await feed.again(taken, INTERVAL_MS);
  }

  return async () => {
    if (!(await feed.lease(holder, INTERVAL_MS))) return;
    const budget = { entries: MOST };
    const until = performance.now() + LOOK_MS;
    for (let looks = 0; looks < MOST_TENANTS && performance.now() < until; looks += 1) {
      const taken = budget.entries > 0 ? await feed.take(TAKEN_MS) : undefined;
      if (taken === undefined) return;
      const { tenant } = taken;
      try {
        await withTimeout(TENANT_MS, passOn(taken, budget));
        waiting.delete(tenant);
      } catch (error) {
        // One line until it works again; the others continue.
        if (!waiting.has(tenant))
          logger.warn({ err: error, tenant }, 'audit entries wait to be passed on');
        waiting.add(tenant);
        await feed.again(taken, AGAIN_MS);
      }
    }
  };
}

function toNotice(tenant: string, { n, entry }: FedEntry): Notice {
  const { roles, detail, ...rest } = entry;
  return {
    id: toNoticeId(JSON.stringify(['audit.entry', tenant, entry.id])),
    type: 'audit.entry',
    at: entry.at,
    ...(tenant !== '' && { tenant }),
    // Without the session: its erasure erases deliveries about it, and the trail stays.
    entry: {
      n,
      ...rest,
      ...(roles !== undefined && { roles: [...roles] }),
      ...(detail !== undefined && { detail: { ...detail } }),
    },
  };
}
