import { expect, it } from '@jest/globals';
import { createPassOnAudit, followAudit } from '../../executor/pass-on-audit.js';
import { toNotifySettings, type NotifySettings } from '../../notify/settings.js';
import type { Notice } from '../../protocol/notices.js';
import { toAct } from '../../stores/record/acts.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { newSessionId } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

const keys = createKeySpace();

function asking(events: ['audit.entry'] | ['run.failed']): NotifySettings {
  const receiver = {
    name: 'hook',
    kind: 'slack',
    url: 'https://hooks.example.com',
    events,
  } as const;
  return toNotifySettings({ receivers: [receiver] });
}

/** A process that follows, with what it begins to deliver; it dies as the test says. */
async function startProcess(fleet: string, tenants: readonly string[]) {
  const { store, redis } = await openTestStores();
  const feed = followAudit(store.audit, fleet, asking(['audit.entry']));
  if (feed === undefined) throw new Error('it does not follow');
  const begun: Notice[] = [];
  const state = { fails: (_notice: Notice): boolean => false };
  const lines: object[] = [];
  const passOn = createPassOnAudit({
    // Other files append to trails of this Redis, but this process notes its own only.
    feed: { ...feed, lease: async () => true },
    deliveries: {
      announce: async (notice) => {
        if (state.fails(notice)) throw new Error('away');
        begun.push(notice);
      },
    },
    holder: 'test',
    logger: { warn: (fields) => void lines.push(fields) },
  });
  const act = async (tenant: string): Promise<string> => {
    const [entry] = await store.audit.record(toAct('read', { by: 'ann' }, { tenant }), {});
    return entry?.id ?? '';
  };
  const idsOf = (tenant = tenants[0]): (string | undefined)[] =>
    begun.filter((notice) => notice.tenant === tenant).map(({ entry }) => entry?.id);
  return { store, redis, begun, state, lines, passOn, act, idsOf };
}

it('what was begun before a crash is begun again under the same ids, and nothing is left out', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const first = await startProcess(fleet, [tenant]);
  const acts = [await first.act(tenant), await first.act(tenant), await first.act(tenant)];
  // It dies before it could note that they were begun.
  first.state.fails = ({ entry }) => entry?.id === acts[2];
  await first.passOn();
  expect(first.idsOf().length).toBe(2);
  await first.passOn();
  expect(first.lines).toHaveLength(1);
  const second = await startProcess(fleet, [tenant]);
  await second.passOn();
  expect(second.idsOf().toSorted()).toEqual(acts.toSorted());
  const webhookIds = (of: readonly Notice[]): string[] => of.map(({ id }) => id);
  expect(webhookIds(second.begun)).toEqual(expect.arrayContaining(webhookIds(first.begun)));
  await second.passOn();
  expect(second.begun).toHaveLength(3);
});

it('a tenant whose entries cannot be passed on holds up no other', async () => {
  const fleet = newSessionId();
  const [broken, fine] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [broken, fine]);
  await one.act(broken);
  const id = await one.act(fine);
  one.state.fails = (notice) => notice.tenant === broken;
  await one.passOn();
  expect([one.idsOf(broken), one.idsOf(fine)]).toEqual([[], [id]]);
});

it('an entry that was changed in Redis holds up none behind it', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [tenant]);
  await one.act(tenant);
  const { chain } = keys.audit(tenant);
  await one.redis.del(chain);
  await one.redis.xadd(chain, '1-0', 'e', '{', 'h', 'x', 'm', '');
  const id = await one.act(tenant);
  await one.passOn();
  expect(one.idsOf()).toEqual([id]);
});

it('nothing is noted for a fleet in which no receiver asks for entries', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const { store, redis } = await openTestStores();
  expect(followAudit(store.audit, fleet, undefined)).toBeUndefined();
  expect(followAudit(store.audit, fleet, asking(['run.failed']))).toBeUndefined();
  await store.audit.record(toAct('read', { by: 'ann' }, { tenant }), {});
  expect(Object.keys(await redis.hgetall(keys.audit(tenant).head)).toSorted()).toEqual([
    'hash',
    'n',
  ]);
  expect(await redis.exists(keys.auditFeed(fleet).tenants)).toBe(0);
});
