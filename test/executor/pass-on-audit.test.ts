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
async function startProcess(fleet: string, tenants: readonly string[] = []) {
  const { store, redis } = await openTestStores();
  const feed = followAudit(store.audit, fleet, asking(['audit.entry']));
  if (feed === undefined) throw new Error('it does not follow');
  const begun: Notice[] = [];
  const state = {
    fails: (_notice: Notice): boolean => false,
    isUnderWay: (_notice: Notice): boolean => false,
  };
  const lines: object[] = [];
  const passOn = createPassOnAudit({
    // One look after the other.
    feed: { ...feed, lease: async () => true },
    deliveries: {
      announce: async (notice) => {
        if (state.fails(notice)) throw new Error('away');
        begun.push(notice);
      },
      isUnderWay: async (notice) => state.isUnderWay(notice),
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
  /** What waits for its next look is looked at now. */
  const look = async (): Promise<void> => {
    const { due } = keys.auditFeed(fleet);
    for (const tenant of await redis.zrange(due, '0', '-1')) await redis.zadd(due, 0, tenant);
    await passOn();
  };
  return { store, redis, begun, state, lines, passOn, look, act, idsOf };
}

it('what was begun before a crash is begun again under the same ids, and nothing is left out', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const first = await startProcess(fleet, [tenant]);
  const acts = [await first.act(tenant), await first.act(tenant), await first.act(tenant)];
  // It dies before it could note that they were begun.
  first.state.fails = ({ entry }) => entry?.id === acts[2];
  await first.look();
  expect(first.idsOf().length).toBe(2);
  await first.look();
  expect(first.lines).toHaveLength(1);
  const second = await startProcess(fleet, [tenant]);
  await second.look();
  expect(second.idsOf().toSorted()).toEqual(acts.toSorted());
  const webhookIds = (of: readonly Notice[]): string[] => of.map(({ id }) => id);
  expect(webhookIds(second.begun)).toEqual(expect.arrayContaining(webhookIds(first.begun)));
  await second.look();
  expect(second.begun).toHaveLength(3);
});

it('a tenant whose entries cannot be passed on holds up no other', async () => {
  const fleet = newSessionId();
  const [broken, fine] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [broken, fine]);
  await one.act(broken);
  const id = await one.act(fine);
  one.state.fails = (notice) => notice.tenant === broken;
  await one.look();
  expect([one.idsOf(broken), one.idsOf(fine)]).toEqual([[], [id]]);
});

it('an entry that was changed in Redis holds up none behind it', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [tenant]);
  const broken = ['{', 'null', '{}', '{"id":"a","at":1,"target":{},"roles":1}'];
  for (const _ of broken) await one.act(tenant);
  const { chain } = keys.audit(tenant);
  await one.redis.del(chain);
  for (const [n, text] of broken.entries()) {
    await one.redis.xadd(chain, `${String(n + 1)}-0`, 'e', text, 'h', 'x', 'm', '');
  }
  const id = await one.act(tenant);
  await one.look();
  expect(one.idsOf()).toEqual([id]);
});

it('a fleet passes on ten entries in a look, whosever they are, and each tenant has its turn', async () => {
  const fleet = newSessionId();
  const tenants = [newSessionId(), newSessionId(), newSessionId()];
  const one = await startProcess(fleet);
  for (const tenant of tenants) {
    for (let n = 0; n < 6; n += 1) await one.act(tenant);
  }
  const counts = (): number[] => tenants.map((tenant) => one.idsOf(tenant).length);
  await one.look();
  expect([...counts().toSorted(), one.begun.length]).toEqual([0, 4, 6, 10]);
  const without = tenants.filter((tenant) => one.idsOf(tenant).length === 0);
  await one.passOn();
  // It was due before those that had a turn.
  expect(without.map((tenant) => one.idsOf(tenant).length)).toEqual([6]);
});

it('nothing is begun while a receiver has yet to take what it was sent last', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [tenant]);
  const taken = [await one.act(tenant), await one.act(tenant)];
  await one.look();
  expect(one.idsOf()).toEqual(taken);
  one.state.isUnderWay = ({ entry }) => entry?.id === taken[1];
  const left = [await one.act(tenant), await one.act(tenant)];
  await one.look();
  expect(one.idsOf()).toEqual(taken);
  one.state.isUnderWay = () => false;
  await one.look();
  expect(one.idsOf()).toEqual([...taken, ...left]);
});

it('a tenant with nothing left is looked at once more, and then not before its next entry', async () => {
  const [fleet, tenant] = [newSessionId(), newSessionId()];
  const one = await startProcess(fleet, [tenant]);
  const { due, resting } = keys.auditFeed(fleet);
  const listed = async (): Promise<string[][]> => [
    await one.redis.zrange(due, '0', '-1'),
    await one.redis.zrange(resting, '0', '-1'),
  ];
  await one.act(tenant);
  await one.look();
  expect(await listed()).toEqual([[tenant], []]);
  await one.look();
  expect(await listed()).toEqual([[], [tenant]]);
  await one.redis.zadd(resting, 0, tenant);
  await one.look();
  expect(await listed()).toEqual([[], []]);
  const id = await one.act(tenant);
  await one.look();
  expect(one.idsOf().at(-1)).toBe(id);
});

it('entries are appended while the feed is away, and are passed on later', async () => {
  const fleet = newSessionId();
  const tenants = [newSessionId(), newSessionId()] as const;
  const one = await startProcess(fleet);
  const { due } = keys.auditFeed(fleet);
  await one.redis.set(due, 'in the way');
  const first = await one.act(tenants[0]);
  expect(first).not.toBe('');
  await one.redis.del(due);
  const second = await one.act(tenants[1]);
  await one.look();
  expect(tenants.flatMap((tenant) => one.idsOf(tenant))).toEqual([first, second]);
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
  expect(await redis.exists(keys.auditFeed(fleet).due)).toBe(0);
});
