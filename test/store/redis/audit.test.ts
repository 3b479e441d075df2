import { readFile } from 'node:fs/promises';
import { createRedisStores, type RedisStores } from '../../../store/redis/index.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { sign, hashOf } from '../../../store/redis/audit-chain.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { toAct } from '../../../runs/record/acts.js';
import { newSessionId } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl, type TestStores } from '../../support/test-stores.js';

const KEY = 'k'.repeat(32);
const OLDER_KEY = 'o'.repeat(32);
const keys = createKeySpace();

let plain: TestStores;
let signing: RedisStores;
beforeAll(async () => {
  plain = await openTestStores();
  signing = createRedisStores({ url: sharedRedisUrl(), auditKeys: [KEY] });
});
afterAll(() => signing.close());

async function newChain({ store }: Pick<RedisStores, 'store'>, entries: number): Promise<string> {
  const tenant = newSessionId();
  await extend({ store }, tenant, entries);
  return tenant;
}

async function extend(
  { store }: Pick<RedisStores, 'store'>,
  tenant: string,
  entries: number,
): Promise<void> {
  for (let at = 0; at < entries; at += 1) {
    await store.audit.record(toAct('read', { by: 'ann' }, { tenant }), { sessionId: 's1' });
  }
}

async function rewriteEntry(tenant: string, n: number, text?: string): Promise<void> {
  const { chain } = keys.audit(tenant);
  const entries = await plain.redis.xrange(chain, '-', '+');
  await plain.redis.del(chain);
  for (const [id, fields] of entries) {
    const isIt = id === `${String(n)}-0`;
    if (isIt && text === undefined) continue;
    await plain.redis.xadd(
      chain,
      id,
      'e',
      isIt ? (text ?? '') : (fields[1] ?? ''),
      ...fields.slice(2),
    );
  }
}

/** Runs the procedure of docs/audit.md. */
async function removeStrays(chain: string, head: string): Promise<void> {
  const guide = await readFile(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  const [, script = ''] = /redis-cli EVAL "([^"]+)"/.exec(guide) ?? [];
  await plain.redis.eval(script, 3, chain, head, `${chain}:copy`);
}

async function restoreHead(chain: string, head: string): Promise<void> {
  const [[id, fields] = ['', []]] = await plain.redis.xrevrange(chain, '+', '-', 'COUNT', 1);
  await plain.redis.hset(head, 'n', id.replace('-0', ''), 'hash', fields[3] ?? '');
}

describe('a chain of audit entries that was changed in Redis', () => {
  it('an edited entry is found', async () => {
    const tenant = await newChain(plain, 4);
    const [, stored] = (await plain.redis.xrange(keys.audit(tenant).chain, '2-0', '2-0'))[0] ?? [];
    await rewriteEntry(tenant, 2, (stored?.[1] ?? '').replace('"read"', '"stop"'));
    expect(await plain.store.audit.verify(tenant)).toMatchObject({
      ok: false,
      fault: { n: 2, reason: 'changed' },
    });
  });

  it('a removed entry is found, also the newest and the oldest one', async () => {
    for (const n of [1, 2, 4]) {
      const tenant = await newChain(plain, 4);
      await rewriteEntry(tenant, n);
      expect(await plain.store.audit.verify(tenant)).toMatchObject({
        ok: false,
        fault: { n, reason: 'missing' },
      });
    }
  });

  it('what stands behind the newest entry is found, nothing is added to it, and all acts are kept', async () => {
    const sessionId = newSessionId();
    for (const lost of [false, true]) {
      const tenant = await newChain(signing, 3);
      const { chain, head } = keys.audit(tenant);
      if (lost) await plain.redis.del(head);
      else await plain.redis.xadd(chain, '3-1', 'e', '{"action":"approve"}', 'h', 'x', 'm', 'y');
      expect(await signing.store.audit.verify(tenant)).toMatchObject({
        ok: false,
        fault: { n: lost ? 1 : 4, reason: 'unexpected' },
      });
      const refused = { code: 'corrupt_record' };
      await expect(extend(signing, tenant, 1)).rejects.toMatchObject(refused);
      const act = JSON.stringify(toAct('stop', { by: 'ann' }, { tenant }));
      await plain.redis.rpush(keys.outbox(sessionId), act);
      await expect(signing.store.audit.relay(sessionId)).rejects.toMatchObject(refused);
      expect(await plain.redis.lrange(keys.outbox(sessionId), 0, -1)).toEqual([act]);
      await (lost ? restoreHead(chain, head) : removeStrays(chain, head));
      expect(await signing.store.audit.relay(sessionId)).toHaveLength(1);
      expect(await signing.store.audit.verify(tenant)).toMatchObject({ ok: true, entries: 4 });
    }
  });

  it('what the guide says about a stray entry lets acts be appended again, also behind an id of a time', async () => {
    for (const id of ['3-1', '4-0', '*']) {
      const tenant = await newChain(signing, 3);
      const { chain, head } = keys.audit(tenant);
      await plain.redis.xadd(chain, id, 'e', '{"action":"approve"}', 'h', 'x', 'm', 'y');
      await removeStrays(chain, head);
      await extend(signing, tenant, 2);
      expect(await signing.store.audit.verify(tenant)).toMatchObject({ ok: true, entries: 5 });
    }
  });

  it('a chain that was written again from an edited entry on lacks the signatures', async () => {
    const tenant = await newChain(signing, 3);
    expect(await signing.store.audit.verify(tenant)).toMatchObject({ ok: true, signed: 3 });
    const { chain, head } = keys.audit(tenant);
    const entries = await plain.redis.xrange(chain, '-', '+');
    await plain.redis.del(chain);
    let hash = '';
    for (const [at, [id, fields]] of entries.entries()) {
      const text = (fields[1] ?? '').replace('"read"', '"stop"');
      hash = hashOf(hash, at + 1, text);
      const mac = sign(OLDER_KEY, tenant, at + 1, hash).slice(1);
      await plain.redis.xadd(chain, id, 'e', text, 'h', hash, 'm', mac);
    }
    await plain.redis.hset(head, 'hash', hash);
    // Without the key, the chain looks intact.
    expect(await plain.store.audit.verify(tenant)).toMatchObject({ ok: true, entries: 3 });
    expect(await signing.store.audit.verify(tenant)).toMatchObject({
      ok: false,
      fault: { n: 1, reason: 'signature' },
    });
  });

  it('a chain without signatures is found out by those who have a key', async () => {
    const tenant = await newChain(plain, 2);
    expect(await signing.store.audit.verify(tenant)).toMatchObject({
      ok: false,
      fault: { n: 2, reason: 'unsigned' },
    });
    // The first signed entry vouches for the earlier ones.
    await extend(signing, tenant, 1);
    expect(await signing.store.audit.verify(tenant)).toMatchObject({ ok: true, signed: 1 });
    await extend(plain, tenant, 1);
    expect(await signing.store.audit.verify(tenant)).toMatchObject({
      ok: false,
      fault: { n: 4, reason: 'unsigned' },
    });
  });

  it('entries that an older key has signed verify while that key is listed', async () => {
    const url = sharedRedisUrl();
    const older = createRedisStores({ url, auditKeys: [OLDER_KEY] });
    const both = createRedisStores({ url, auditKeys: [KEY, OLDER_KEY] });
    try {
      const tenant = await newChain(older, 2);
      await extend(both, tenant, 2);
      expect(await both.store.audit.verify(tenant)).toMatchObject({ ok: true, signed: 4 });
      expect(await signing.store.audit.verify(tenant)).toMatchObject({
        fault: { n: 1, reason: 'signature' },
      });
    } finally {
      await older.close();
      await both.close();
    }
  });
});

describe('the relay', () => {
  it('an outbox whose relay died before it trimmed it is chained once', async () => {
    const [id, tenant] = [newSessionId(), newSessionId()];
    const texts = [1, 2].map(() => JSON.stringify(toAct('stop', { by: 'ann' }, { tenant })));
    await plain.redis.rpush(keys.outbox(id), ...texts);
    expect(await plain.store.audit.relay(id)).toHaveLength(2);
    await plain.redis.rpush(
      keys.outbox(id),
      texts[0] ?? '',
      JSON.stringify(toAct('stop', {}, { tenant })),
    );
    expect(await plain.store.audit.relay(id)).toHaveLength(1);
    expect(await plain.redis.exists(keys.outbox(id))).toBe(0);
    expect(await plain.store.audit.verify(tenant)).toMatchObject({ ok: true, entries: 3 });
  });

  it('old entries are dropped once they are older than they are kept, and the rest verifies', async () => {
    const kept = newSessionId();
    const brief = createRedisStores({
      url: sharedRedisUrl(),
      auditKeys: [KEY],
      auditTtlSeconds: (of) => (of === kept ? 0 : 60),
    });
    try {
      await signing.store.audit.record({ ...toAct('read', {}, { tenant: kept }), at: 1 }, {});
      await extend(brief, kept, 1);
      expect(await brief.store.audit.verify(kept)).toMatchObject({ ok: true, entries: 2 });
      const tenant = newSessionId();
      for (const at of [1, 2, Date.now()]) {
        const act = { ...toAct('read', { by: 'ann' }, { tenant }), at };
        await signing.store.audit.record(act, {});
      }
      await extend(brief, tenant, 1);
      expect(await brief.store.audit.verify(tenant)).toMatchObject({
        ok: true,
        first: 3,
        entries: 2,
        signed: 2,
      });
      await rewriteEntry(tenant, 3);
      expect(await brief.store.audit.verify(tenant)).toMatchObject({ fault: { n: 3 } });
    } finally {
      await brief.close();
    }
  });

  it('a sealed name is kept as long as the trail keeps an entry of what the person did to others', async () => {
    let now = Date.now();
    const { store } = createMemoryStores({ now: () => now, auditTtlSeconds: 60 });
    const read = (by: string) =>
      store.audit.record(toAct('read', { by }, { owner: 'ann' }, now), { sessionId: 's1' });
    const [first] = await read('col');
    now += 50_000;
    const [second] = await read('bob');
    for (const person of ['col', 'bob']) await store.audit.forget(undefined, person);
    const names = () =>
      Promise.all([first, second].map((of) => store.audit.unseal(undefined, of?.actor ?? '')));
    expect(await names()).toEqual(['col', 'bob']);
    now += 15_000;
    await read('dan');
    expect(await names()).toEqual([undefined, 'bob']);
    expect((await store.audit.page(undefined, { limit: 10 })).entries).toHaveLength(2);
  });

  it('a trail of which nothing is due is trimmed no further', async () => {
    let now = Date.now();
    const { store } = createMemoryStores({ now: () => now, auditTtlSeconds: 600 });
    for (const laterMs of [0, 601_000, 61_000]) {
      now += laterMs;
      await store.audit.record(toAct('read', { by: 'ann' }, {}, now), { sessionId: 's1' });
    }
    expect(await store.audit.verify(undefined)).toMatchObject({ ok: true, first: 2, entries: 2 });
  });

  it('nothing of a person is in the trail but the pseudonym, and its key only once', async () => {
    const tenant = newSessionId();
    const person = `ann-${newSessionId()}@example.com`;
    const facts = { tenant, owner: person, reason: 'secret' };
    await plain.store.audit.record(toAct('deny', { by: person }, facts), {});
    const { chain } = keys.audit(tenant);
    const text = JSON.stringify(await plain.redis.xrange(chain, '-', '+'));
    expect(text).not.toContain(person);
    expect(text).not.toContain('secret');
    await plain.store.audit.forget(tenant, person);
    for (const key of await plain.redis.keys(`hx:audit:*${tenant}*`)) {
      expect(await plain.redis.dumpBuffer(key).then(String)).not.toContain(person);
    }
  });
});
