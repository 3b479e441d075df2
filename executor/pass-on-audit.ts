import { wants } from '../notify/receivers.js';
import type { NotifySettings } from '../notify/settings.js';
import type { Notice } from '../protocol/notices.js';
import type { Audit, AuditFeed, ChainedEntry } from '../stores/contract/audit.js';
import type { Deliveries } from './deliveries.js';
import { toNoticeId } from './delivery-ids.js';
import { inLanes } from './in-lanes.js';

/** One process looks this often for entries that were not passed on. */
const INTERVAL_MS = 1_000;
/** Entries of a tenant that are passed on in this time: as many as deliveries are sent. */
const MOST = 50;
const TENANTS_AT_ONCE = 10;
const ENTRIES_AT_ONCE = 5;

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
    wants(each, 'audit.entry', each.tenant),
  );
  if (receivers.length === 0) return undefined;
  return audit.follow(fleet, (tenant) =>
    receivers.some((each) => wants(each, 'audit.entry', tenant)),
  );
}

export interface PassOnDeps {
  feed: AuditFeed;
  deliveries: Pick<Deliveries, 'announce'>;
  /** Names this process: one of a fleet passes on at a time. */
  holder: string;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Begins the deliveries of entries that were not passed on. The id of a delivery is made of the
 * entry's, so what is begun again after a crash is begun once.
 */
export function createPassOnAudit({
  feed,
  deliveries,
  holder,
  logger,
}: PassOnDeps): () => Promise<void> {
  const waiting = new Set<string>();

  async function passOn(tenant: string): Promise<void> {
    const found = await feed.next(tenant, MOST);
    if (found === undefined) return;
    await inLanes(found.entries, ENTRIES_AT_ONCE, (each) =>
      deliveries.announce(toNotice(tenant, each)),
    );
    await feed.passed(tenant, found.upTo);
  }

  return async () => {
    if (!(await feed.lease(holder, INTERVAL_MS))) return;
    await inLanes(await feed.tenants(), TENANTS_AT_ONCE, async (tenant) => {
      try {
        await passOn(tenant);
        waiting.delete(tenant);
      } catch (error) {
        // One line until it works again; the others continue.
        if (!waiting.has(tenant))
          logger.warn({ err: error, tenant }, 'audit entries wait to be passed on');
        waiting.add(tenant);
      }
    });
  };
}

function toNotice(tenant: string, { n, entry }: Omit<ChainedEntry, 'name'>): Notice {
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
