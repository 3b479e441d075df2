import { Redis } from 'ioredis';
import { createRedisStores, type RedisStores } from '../../../store/redis/index.js';
import { answers } from '../../support/test-stores.js';
import { dumpKeys } from '../../support/redis-dump.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { createRedisUser } from '../../support/redis-user.js';
import { drive, newCall, newNonce, type SessionDriver } from '../../support/session-driver.js';
import { until } from '../../support/until.js';

let server: RedisServer;
let redis: Redis;
const opened: RedisStores[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
});

afterAll(async () => {
  redis.disconnect();
  await server.close();
});

/** Opens stores for a user with the documented rights, changed by some rules. */
async function openAs(...rules: string[]) {
  const prefix = `t${newNonce()}`;
  const user = await createRedisUser(redis, prefix, ...rules);
  const stores = createRedisStores({ url: user.url, whenAway: 'refuse', prefix });
  opened.push(stores);
  await until('Redis answers', () => answers(stores));
  return { ...stores, prefix, user, session: drive(stores) };
}

async function playTurn(session: SessionDriver): Promise<void> {
  const { runId } = await session.asked(newCall('a', 'approval'));
  expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  expect(await session.start(runId, 1, 'a')).toMatchObject({ kind: 'execute' });
  await session.finishCall(runId, 1, 'a', 'done');
  expect(await session.end(runId, 'completed')).toMatchObject({ kind: 'ended' });
}

describe('a user of Redis', () => {
  it('a user with the documented rights needs no others', async () => {
    const { session } = await openAs();
    await playTurn(session);
  });

  it.each([
    ['scripts', ['-evalsha', '-eval'], 'EVALSHA'],
    ['the right to write to a stream', ['-xadd'], 'XADD'],
    ['several rights', ['-hset', '-xdel', '-spublish'], 'SPUBLISH, XDEL, HSET'],
    ['the right to its channels', ['resetchannels'], 'SPUBLISH, SSUBSCRIBE'],
    ['the right to its keys', ['resetkeys'], 'these keys'],
  ])(
    'a user without %s gets an error that names the right, and changes nothing',
    async (_, rules, lacking) => {
      const { session, prefix, user } = await openAs(...rules);
      const refused = session.newRun();
      await expect(refused).rejects.toMatchObject({
        name: 'HelixError',
        code: 'unavailable',
        statusCode: 503,
      });
      const { message } = (await refused.catch((error: unknown) => error)) as Error;
      expect(message).toContain('refuses this server: its Redis user may not use ');
      for (const name of lacking.split(', ')) expect(message).toContain(name);
      for (const secret of ['secret', new URL(user.url).username, prefix]) {
        expect(message).not.toContain(secret);
      }
      expect(await dumpKeys(redis, `${prefix}:*`)).toEqual([]);
    },
  );

  it('a user that gets its rights later continues', async () => {
    const { session, user } = await openAs('-xadd');
    await expect(session.newRun()).rejects.toMatchObject({ code: 'unavailable' });
    await user.change('+xadd');
    await playTurn(session);
  });

  it('a user that loses a right gets an error that names it', async () => {
    const { session, user, store } = await openAs();
    await playTurn(session);
    await user.change('-hmget', '-hset');
    await expect(store.sessions.read(session.id)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('HMGET') as unknown,
    });
    await expect(session.newRun()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('HSET') as unknown,
    });
  });

  it('a user that lost a right starts nothing else, not even what needs other rights only', async () => {
    const { session, user } = await openAs();
    const { runId } = await session.claimed();
    await user.change('-hset');
    await expect(session.end(runId, 'completed')).rejects.toThrow('HSET');
    // The end of this run needs no XDEL.
    await user.change('+hset', '-xdel');
    await expect(session.end(runId, 'completed')).rejects.toThrow('XDEL');
    await user.change('+xdel');
    await session.end(runId, 'completed');
  });

  it('a user with another password is refused', async () => {
    const { user } = await openAs();
    const stores = createRedisStores({
      url: user.url.replace('secret', 'wrong'),
      whenAway: 'refuse',
    });
    opened.push(stores);
    await expect(stores.ping()).rejects.toMatchObject({ name: 'HelixError', code: 'unavailable' });
  });
});
