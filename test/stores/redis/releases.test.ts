import { Redis } from 'ioredis';
import { libraryName, THIS_LIBRARY, type Library } from '../../../stores/redis/library.js';
import { openRedisStores, type RedisStores } from '../../../stores/redis/open-stores.js';
import { answers } from '../../support/open-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, newCall } from '../../support/session-driver.js';
import { until } from '../../support/until.js';

/** Another build: its library says the same under another name. */
const OTHER: Library = { ...THIS_LIBRARY, hash: '0123456789ab' };

let server: RedisServer;
let redis: Redis;
const opened: RedisStores[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterAll(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
  redis.disconnect();
  await server.close();
});

async function open(library: Library): Promise<RedisStores> {
  const stores = openRedisStores({ url: server.url, whenAway: 'wait' }, { library });
  opened.push(stores);
  await until('Redis answers', () => answers(stores));
  return stores;
}

async function libraries(): Promise<string[]> {
  const found = (await redis.function('LIST')) as string[][];
  return found.map(([, name = '']) => name).sort();
}

/** How often anybody has looked at the libraries. */
async function listings(): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/^cmdstat_function\|list:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}

const [THIS_NAME, OTHER_NAME] = [libraryName(THIS_LIBRARY), libraryName(OTHER)];

describe('two builds on one Redis', () => {
  it('two builds work on the same session, and the library of the one that ends is removed', async () => {
    const [current, other] = [await open(THIS_LIBRARY), await open(OTHER)];
    const session = drive(current);
    const { runId } = await session.newRun();
    const seenByOther = drive(other, session.id);
    await seenByOther.ask(runId, 1, [newCall('a', 'approval')]);
    await session.decide(runId, 'a', true);
    await seenByOther.start(runId, 1, 'a');
    await session.finishCall(runId, 1, 'a', 'done');
    expect(await libraries()).toEqual([OTHER_NAME, THIS_NAME].sort());

    // Who else uses functions names them otherwise.
    await redis.function(
      'LOAD',
      "#!lua name=hx_tools\nredis.register_function('t', function() return 1 end)",
    );
    // One that begins while both live leaves both alone.
    const looked = await listings();
    await open(THIS_LIBRARY);
    await until('it has looked', async () => (await listings()) > looked);
    await redis.ping();
    expect(await libraries()).toEqual([OTHER_NAME, THIS_NAME, 'hx_tools'].sort());
    await other.close();
    await open(THIS_LIBRARY);
    await until('it is gone', async () => !(await libraries()).includes(OTHER_NAME));
    expect(await libraries()).toEqual([THIS_NAME, 'hx_tools'].sort());
    expect(await session.claim(session.writer(runId, 2, 1))).toMatchObject({ kind: 'claimed' });
  });

  it('a build whose library was pruned although it is needed loads it again', async () => {
    const other = await open(OTHER);
    const session = drive(other);
    await session.newRun();
    expect(await libraries()).toContain(OTHER_NAME);
    // As if it had been suspended until every list had dropped it.
    for (const name of await redis.zrange('hx:processes', '0', '-1')) {
      if (name.includes(OTHER.hash)) await redis.zrem('hx:processes', name);
    }
    await open(THIS_LIBRARY);
    await until('it is gone', async () => !(await libraries()).includes(OTHER_NAME));
    expect(await session.stop()).toMatchObject({ kind: 'ended' });
    expect(await libraries()).toContain(OTHER_NAME);
  });
});
