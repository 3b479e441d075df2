import type { AuditEntry } from '../../contract/audit.js';
import { equal, includes } from '../assertions.js';
import { newSessionId } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { actOf } from './audit.js';

export function auditFeedCases({ describe, it }: Suite): void {
  describe('audit feed', () => {
    it('entries are passed on from where a fleet follows, until they are noted as passed on', async (setup) => {
      const [fleet, tenant, left] = [newSessionId(), newSessionId(), newSessionId()];
      const { audit } = setup.store;
      const read = (of = tenant): Promise<AuditEntry[]> =>
        audit.record(actOf('read', { tenant: of }), { sessionId: 's1' });
      await read();
      const feed = audit.follow(fleet, (of) => of === tenant);
      equal(await feed.tenants(), []);
      await read(left);
      await read();
      await read();
      equal(await feed.tenants(), [tenant]);
      const numbers = async (most = 10): Promise<number[]> => {
        const found = await feed.next(tenant, most);
        return found?.entries.map(({ n }) => n) ?? [];
      };
      equal(await numbers(), [2, 3]);
      equal(await numbers(1), [2]);
      await feed.passed(tenant, 2);
      equal(await numbers(), [3]);
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
  });
}
