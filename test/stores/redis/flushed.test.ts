import { Redis } from 'ioredis';
import { startFollower } from '../../support/follower.js';
import { closeStores, openStores } from '../../support/open-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { createRedisUser, NO_FUNCTIONS, SCRIPTS } from '../../support/redis-user.js';
import { drive, newCall, textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';

let server: RedisServer;
let redis: Redis;

beforeEach(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  redis.on('error', () => undefined);
});

afterEach(async () => {
  await closeStores();
  redis.disconnect();
  await server.close();
});

const libraries = async (): Promise<number> => (await redis.function('LIST')).length;

describe('a Redis that loses its library or its data', () => {
  it('a restart keeps the library, or it is loaded again', async () => {
    const stores = await openStores(server.url);
    const session = drive(stores);
    await session.newRun();
    await server.restart();
    await until('Redis answers', () => redis.ping().then(Boolean, () => false));
    expect(await libraries()).toBe(1);
    expect(await session.stop()).toMatchObject({ kind: 'ended' });
  });

  it('functions that are flushed again and again are loaded again', async () => {
    const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
    const { session, say } = await openSpeaker(worker);
    const follower = startFollower(api.streamManager, session.id, 0);
    const sent = words(200);
    const speaking = say(...sent);
    for (const moment of [20, 60, 100, 140]) {
      await until('the writer has come so far', () => follower.entries.length > moment);
      await redis.function('FLUSH');
    }
    await speaking;
    await until('all has come', () => follower.entries.length === sent.length);
    await follower.stop();
    expect(textIn(follower.entries)).toBe(sent.join(''));
  });

  it('scripts that are flushed are loaded again', async () => {
    const { url } = await createRedisUser(redis, 'hx', ...NO_FUNCTIONS, ...SCRIPTS);
    const { say, session } = await openSpeaker(await openStores(url));
    await say('a');
    await redis.script('FLUSH');
    await say('b');
    expect(textIn(await session.log())).toBe('ab');
  });

  it('an emptied Redis ends active runs with a typed error, and serves new sessions', async () => {
    const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
    const { session, runId, writer, say } = await openSpeaker(worker);
    await say('a', 'b');
    const follower = startFollower(api.streamManager, session.id, 0);
    await until('it is live', () => follower.entries.length === 2);
    await redis.flushall();
    expect(await session.say(writer, 3, 'c', 2)).toEqual({ kind: 'rewound' });
    expect(await session.claim(session.writer(runId, 2, 1), 2)).toEqual({ kind: 'rewound' });
    expect(await session.finishCall(runId, 1, 'x', 1)).toEqual({ kind: 'not_pending' });
    expect(await session.end(runId, 'failed')).toEqual({ kind: 'superseded' });
    expect(await session.stop()).toEqual({ kind: 'nothing' });
    expect(await api.store.sessions.read(session.id)).toBeUndefined();
    await expect(follower.ended).rejects.toMatchObject({ code: 'rewound' });
    expect(await redis.keys(`*${session.id}*`)).toEqual([]);
    const next = await openSpeaker(worker, session.id);
    await next.say('again');
    expect(textIn(await next.session.log())).toBe('again');
  });

  it('a Redis with another library, under a name like ours or with other functions, serves both', async () => {
    await redis.function(
      'LOAD',
      "#!lua name=hx_other\nredis.register_function('begin', function() return 'theirs' end)",
    );
    const session = drive(await openStores(server.url));
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'client')]);
    expect(await redis.fcall('begin', 0)).toBe('theirs');
  });
});
