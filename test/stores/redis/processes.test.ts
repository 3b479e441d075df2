import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { RedisStateStore, RedisStreamManager } from '../../../stores/redis/index.js';
import { THIS_LIBRARY } from '../../../stores/redis/library.js';
import { openRedisStores, type RedisStores } from '../../../stores/redis/open-stores.js';
import { answers } from '../../support/open-stores.js';
import { drive, newNonce } from '../../support/session-driver.js';
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
  const open = async (): Promise<RedisStores> => {
    const stores = openRedisStores({ url, whenAway: 'wait', prefix });
    opened.push(stores);
    await until('Redis answers', () => answers(stores));
    return stores;
  };
  const now = async (): Promise<number> => Number((await redis.time())[0]) * 1_000;
  return { prefix, key, living, open, now };
}

const THIS = { library: THIS_LIBRARY.hash };

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
    const other = { library: 'ffffffffffff', id: 'a', more: true };
    await redis.zadd(key, (await now()) - 1_000, JSON.stringify({ ...other, id: 'b' }));
    await redis.zadd(key, (await now()) + 60_000, JSON.stringify(other));
    await redis.zadd(key, (await now()) + 60_000, '"no announcement"');
    const session = drive(await open());
    await session.newRun();
    expect(await living()).toEqual(
      expect.arrayContaining([expect.objectContaining(THIS), other, 'no announcement']),
    );
    expect(await living()).toHaveLength(3);
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
