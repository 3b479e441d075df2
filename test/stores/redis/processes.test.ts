import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisStateStore, RedisStreamManager } from '../../../stores/redis/index.js';
import { THIS_LIBRARY } from '../../../stores/redis/library.js';
import { RECORD_LAYOUT } from '../../../stores/transitions/lib/layout.js';
import { openRedisStores, type RedisStores } from '../../../stores/redis/open-stores.js';
import { answers } from '../../support/open-stores.js';
import { drive, newNonce, type SessionDriver } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const url = sharedRedisUrl();
const redis = new Redis(url);
const opened: RedisStores[] = [];

afterAll(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
  redis.disconnect();
});

/** Processes of one deployment, with a prefix of their own. */
function deploy() {
  const prefix = `t${newNonce()}`;
  const key = `${prefix}:processes`;
  const living = async (): Promise<unknown[]> =>
    (await redis.zrange(key, '0', '-1')).map((json) => JSON.parse(json) as unknown);
  const open = async (
    release?: { layout?: number },
    recordLayout = RECORD_LAYOUT,
  ): Promise<RedisStores> => {
    const options = { url, whenAway: 'wait', prefix, recordLayout } as const;
    const stores = openRedisStores(options, release);
    opened.push(stores);
    await until('Redis answers', () => answers(stores));
    return stores;
  };
  const now = async (): Promise<number> => Number((await redis.time())[0]) * 1_000;
  return { prefix, key, living, open, now };
}

const THIS = { library: THIS_LIBRARY.hash, layout: 3 };
const LARGE = 'x'.repeat(100_000);

/** A turn whose run has a large output. */
async function finish(session: SessionDriver): Promise<void> {
  const { runId } = await session.newRun(newNonce());
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.commit(writer, { output: LARGE });
}

describe('a process', () => {
  it('a process announces itself while it lives, and withdraws when it is closed', async () => {
    const { key, living, open, now } = deploy();
    const stores = await open();
    await until('it is announced', async () => (await living()).length === 1);
    expect(await living()).toEqual([expect.objectContaining(THIS)]);
    const [, until_ = '0'] = await redis.zrange(key, '0', '-1', 'WITHSCORES');
    expect(Number(until_)).toBeGreaterThan((await now()) + 60_000);
    await stores.close();
    expect(await living()).toEqual([]);
  });

  it('a process drops entries of dead processes, and tolerates unreadable ones', async () => {
    const { key, living, open, now } = deploy();
    const other = { library: 'ffffffffffff', layout: 4, id: 'a', more: true };
    await redis.zadd(key, (await now()) - 1_000, JSON.stringify({ ...other, layout: 1 }));
    await redis.zadd(key, (await now()) + 60_000, JSON.stringify(other));
    await redis.zadd(key, (await now()) + 60_000, '"no announcement"');
    const session = drive(await open());
    await session.newRun();
    expect(await living()).toEqual(
      expect.arrayContaining([expect.objectContaining(THIS), other, 'no announcement']),
    );
    expect(await living()).toHaveLength(3);
    expect(await redis.hget(`${key.slice(0, -10)}:{${session.id}}:root`, 'layout')).toBe('3');
  });

  it('a process on a connection of its own announces itself with its first command', async () => {
    const { prefix, living } = deploy();
    const connection = new Redis(url);
    const store = new RedisStateStore(connection, { prefix });
    const streamManager = new RedisStreamManager(connection, { prefix });
    expect(await living()).toEqual([]);
    await drive({ store, streamManager }).newRun();
    await until('it is announced', async () => (await living()).length > 0);
    await until('so is the other', async () => {
      await streamManager.getAllChunks('nothing');
      return (await living()).length === 2;
    });
    await streamManager.close();
    expect(await living()).toHaveLength(1);
    connection.disconnect();
  });

  it('a process that closes its connection is kept alive by nothing', async () => {
    const script = fileURLToPath(new URL('./use-and-leave.mjs', import.meta.url));
    // A process that does not end is killed, which rejects.
    await promisify(execFile)(process.execPath, [script, url], { timeout: 20_000 });
  });
});

describe('while processes of release 0.2.0 may live, which announce nothing', () => {
  it('nothing is written that release 0.2.0 would misread, unless the setting declares that its processes are gone', async () => {
    const { prefix, open } = deploy();
    const session = drive(await open({}, 1));
    await finish(session);
    const key = `${prefix}:{${session.id}}:root`;
    expect(await redis.hgetall(key)).toMatchObject({ layout: '1', output: JSON.stringify(LARGE) });
    const later = await open({}, 2);
    await finish(drive(later, session.id));
    const root = await redis.hgetall(key);
    expect(root).toMatchObject({
      layout: '2',
      outputRef: expect.stringMatching(/^run /) as unknown,
    });
    expect((await later.store.runs.list(session.id)).map(({ output }) => output)).toEqual([
      LARGE,
      LARGE,
    ]);
  });
});

describe('while a process of layout 1 lives', () => {
  it('nothing is written that a process of layout 1 would misread', async () => {
    const { prefix, open } = deploy();
    const old = await open({ layout: 1 });
    const stores = await open();
    const session = drive(stores);
    await finish(session);
    const root = await redis.hgetall(`${prefix}:{${session.id}}:root`);
    expect(root).toMatchObject({ layout: '1', output: JSON.stringify(LARGE) });
    expect(root).not.toHaveProperty('outputRef');
    expect((await old.store.sessions.read(session.id))?.output).toBe(LARGE);
    expect(await session.messages('output')).toMatchObject([{ output: LARGE }]);
    // It continues the session as well.
    await finish(drive(old, session.id));
  });

  it('tenants do not begin sessions under ids that it would not find', async () => {
    const { open } = deploy();
    const stores = await open();
    expect(await stores.store.sessions.tenantsApart()).toBe(true);
    await open({ layout: 1 });
    expect(await (await open()).store.sessions.tenantsApart()).toBe(false);
  });

  it('data in the new layout from before its start stays as it is', async () => {
    const { prefix, open } = deploy();
    const first = drive(await open());
    await finish(first);
    const key = `${prefix}:{${first.id}}:root`;
    expect(await redis.hgetall(key)).toMatchObject({
      layout: '3',
      outputRef: expect.stringMatching(/^run /) as unknown,
    });
    await open({ layout: 1 });
    const later = await open();
    await finish(drive(later, first.id));
    expect(await redis.hgetall(key)).toMatchObject({ layout: '3', output: JSON.stringify(LARGE) });
    expect((await later.store.runs.list(first.id)).map(({ output }) => output)).toEqual([
      LARGE,
      LARGE,
    ]);
  });

  it('its sessions are raised when it is gone and one of them has need of it', async () => {
    const { prefix, open } = deploy();
    const old = await open({ layout: 1 });
    const session = drive(old);
    const { runId } = await session.newRun();
    const layout = (): Promise<string | null> =>
      redis.hget(`${prefix}:{${session.id}}:root`, 'layout');
    expect(await layout()).toBe('1');
    await old.close();
    const again = drive(await open(), session.id);
    const writer = again.writer(runId, 1, 1);
    await again.claim(writer);
    expect(await layout()).toBe('1');
    await again.commit(writer, { output: LARGE });
    expect(await layout()).toBe('3');
  });
});
