import { Redis } from 'ioredis';
import { createKeySpace } from '../../../stores/redis/keys.js';
import { THIS_LIBRARY } from '../../../stores/redis/library.js';
import { createRedisStores, type RedisStores } from '../../../stores/redis/index.js';
import { rightsFor } from '../../../stores/redis/rights.js';
import { answers } from '../../support/open-stores.js';
import { dumpKeys } from '../../support/redis-dump.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { createRedisUser, NO_FUNCTIONS, SCRIPTS } from '../../support/redis-user.js';
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

/** Stores of a user with the documented rights and others, less some. */
async function openAs(...rules: string[]) {
  const prefix = `t${newNonce()}`;
  const user = await createRedisUser(redis, prefix, ...rules);
  const stores = createRedisStores({ url: user.url, whenAway: 'refuse', prefix });
  opened.push(stores);
  await until('Redis answers', () => answers(stores));
  return { ...stores, prefix, user, session: drive(stores) };
}

async function playTurn(session: SessionDriver): Promise<void> {
  const { runId } = await session.newRun();
  await session.ask(runId, 1, [newCall('a', 'approval')]);
  expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  expect(await session.start(runId, 1, 'a')).toMatchObject({ kind: 'execute' });
  await session.finishCall(runId, 1, 'a', 'done');
  expect(await session.end(runId, 'completed')).toMatchObject({ kind: 'ended' });
}

const calls = async (command: string): Promise<number> => {
  const stats = await redis.info('commandstats');
  const found = new RegExp(`^cmdstat_${command}:calls=(\\d+),.*rejected_calls=(\\d+)`, 'm').exec(
    stats,
  );
  return Number(found?.[1] ?? 0);
};

describe('a user of Redis', () => {
  it('a user with the documented rights needs no others for functions', async () => {
    const { session } = await openAs();
    const scripts = await calls('evalsha');
    await playTurn(session);
    expect(await calls('evalsha')).toBe(scripts);
  });

  it('a user without FUNCTION and FCALL runs scripts', async () => {
    const { session } = await openAs(...NO_FUNCTIONS, ...SCRIPTS);
    const functions = await calls('fcall');
    await playTurn(session);
    expect(await calls('fcall')).toBe(functions);
  });

  it('a user without FUNCTION LOAD and without a loaded library runs scripts', async () => {
    await redis.function('FLUSH');
    const { session } = await openAs('-function', ...SCRIPTS);
    await playTurn(session);
  });

  it('a user without FUNCTION LIST and DELETE runs functions that others prune', async () => {
    const { session } = await openAs('-function|list', '-function|delete');
    await playTurn(session);
  });

  it.each([
    ['functions nor scripts', NO_FUNCTIONS, 'EVALSHA'],
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
      for (const secret of ['secret', new URL(user.url).username, prefix, 'hx_']) {
        expect(message).not.toContain(secret);
      }
      const stored = (await dumpKeys(redis, `${prefix}:*`)).map(({ key }) => key);
      expect(stored.filter((key) => key !== `${prefix}:processes`)).toEqual([]);
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
    await user.change('-hgetall', '-hset');
    await expect(store.sessions.read(session.id)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('HGETALL') as unknown,
    });
    await expect(session.newRun()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('HSET') as unknown,
    });
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

it('every command of the transitions is among the rights', () => {
  const rights = new Set(rightsFor(createKeySpace()).map(([command]) => command));
  const code = THIS_LIBRARY.modules.map((module) => module.code).join('\n');
  const used = [...code.matchAll(/redis\.p?call\(\s*"([A-Z]+)"/g)].map(
    ([, command = '']) => command,
  );
  expect(used.length).toBeGreaterThan(100);
  expect([...new Set(used)].filter((command) => !rights.has(command))).toEqual([]);
});
