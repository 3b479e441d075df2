import type { AuditEntry, AuditFeed, FedTenant } from '../../contract/audit.js';
import { equal, includes } from '../assertions.js';
import { newSessionId } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { actOf } from './audit.js';

const TAKEN_MS = 60_000;

/** A fleet that follows one tenant, whose trail has an entry. */
async function openFeed({ store: { audit } }: Case) {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const read = (of = tenant): Promise<AuditEntry[]> =>
    audit.record(actOf('read', { tenant: of }), { sessionId: 's1' });
  await read();
  const feed = audit.follow(fleet, (of) => of === tenant);
  return { fleet, tenant, feed, read };
}

async function taken(feed: AuditFeed): Promise<FedTenant> {
  const found = await feed.take(TAKEN_MS);
  if (found === undefined) throw new Error('nothing is to be passed on');
  return found;
}

export function auditFeedCases({ describe, it }: Suite): void {
  describe('audit feed', () => {
    it('entries are passed on from where a fleet follows, until they are noted as passed on', async (setup) => {
      const { audit } = setup.store;
      const { fleet, tenant, feed, read } = await openFeed(setup);
      const unfollowed = newSessionId();
      await read(unfollowed);
      equal(await feed.take(TAKEN_MS), undefined);
      await read();
      await read();
      includes(await taken(feed), { tenant, list: 'due' });
      const numbers = async (most = 10): Promise<number[]> => {
        const found = await feed.next(tenant, most);
        return found?.entries.map(({ n }) => n) ?? [];
      };
      equal(await numbers(), [2, 3]);
      equal(await numbers(1), [2]);
      await feed.passed(tenant, 2);
      equal(await numbers(), [3]);
      includes(await feed.next(tenant, 10), { last: { n: 2 }, upTo: 3 });
      const other = (await setup.another()).store.audit.follow(fleet, () => true);
      equal((await other.next(tenant, 10))?.upTo, 3);
      await other.passed(tenant, 3);
      equal(await feed.next(tenant, 10), undefined);
      await read();
      equal(await numbers(), [4]);
      equal(await feed.lease('one', 60_000), true);
      equal(await other.lease('other', 60_000), false);
      includes(await audit.verify(tenant), { ok: true, entries: 4 });
    });

    it('a process that is behind sets nothing back', async (setup) => {
      const { tenant, feed, read } = await openFeed(setup);
      await read();
      await read();
      await feed.passed(tenant, 3);
      await feed.passed(tenant, 2);
      equal(await feed.next(tenant, 10), undefined);
    });

    it('a tenant is taken by one process, and listed as long as something is left', async (setup) => {
      const { tenant, feed, read } = await openFeed(setup);
      await read();
      const first = await taken(feed);
      equal(await feed.take(TAKEN_MS), undefined);
      await feed.again(first, 0);
      const second = await taken(feed);
      // Noted meanwhile, so it is due however long it was to wait.
      await read();
      await feed.rest(second);
      const third = await taken(feed);
      await feed.rest(third);
      equal(await feed.take(TAKEN_MS), undefined);
      await read();
      includes(await taken(feed), { tenant, list: 'due' });
    });
  });
}
