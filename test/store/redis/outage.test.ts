import { Redis } from 'ioredis';
import { toReason } from '../../../protocol/errors.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import {
  createRedisStores,
  RedisStreamManager,
  type RedisStores,
} from '../../../store/redis/index.js';
import { createTail, type TailedLog } from '../../../store/redis/tail/tail.js';
import { countSubscribers, startFollower } from '../../support/follower.js';
import { answers } from '../../support/test-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, newCall, textIn, userMessage } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

let server: RedisServer;
const opened: RedisStores[] = [];

beforeAll(async () => {
  server = await startRedis();
});

afterAll(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
  await server.close();
});

async function open(whenAway: 'refuse' | 'wait'): Promise<RedisStores> {
  const stores = createRedisStores({ url: server.url, whenAway });
  opened.push(stores);
  await until('Redis answers', () => answers(stores));
  return stores;
}

it('a refused command says why there is no connection', async () => {
  const stores = await open('refuse');
  const admin = new Redis(server.url);
  await admin.config('SET', 'requirepass', 'another');
  try {
    await admin.call('CLIENT', 'KILL', 'SKIPME', 'yes');
    await until('the reason is that of Redis', async () => {
      const error: unknown = await stores.store.sessions.read('s').catch((e: unknown) => e);
      return error instanceof Error && toReason(error.cause).startsWith('NOAUTH');
    });
  } finally {
    await admin.config('SET', 'requirepass', '');
    admin.disconnect();
  }
});

describe('a Redis that restarts', () => {
  it('a restart of Redis leaves followers without gap or duplicate, and a waiting run unchanged', async () => {
    const [worker, api] = [await open('wait'), await open('refuse')];
    const session = drive(worker);
    const { runId, writer } = await session.claimed();
    const follower = startFollower(api.streamManager, session.id, 0);
    await session.say(writer, 1, 'before ');
    await until('it is live', () => follower.entries.length === 1);

    await server.restart();
    // The worker's connection waits for Redis, so the caller need not retry.
    await session.say(writer, 2, 'after ');
    await session.commit(writer, { calls: [newCall('a', 'approval')] });
    await until('the pause has come', () => follower.entries.length === 5);
    await follower.stop();
    expect(textIn(follower.entries)).toBe('before after ');
    expect(follower.entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);

    await server.restart();
    expect(await worker.store.sessions.read(session.id)).toMatchObject({
      status: 'waiting_approval',
    });
    expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  });

  it('a Redis that is killed and restarted with its file leaves readers and a writer without gap or duplicate', async () => {
    const [worker, api] = [await open('wait'), await open('refuse')];
    const { session, say } = await openSpeaker(worker);
    const early = startFollower(api.streamManager, session.id, 0);
    const other = startFollower(worker.streamManager, session.id, 0);
    const sent = words(600);
    const speaking = say(...sent);
    for (const moment of [100, 250, 400]) {
      await until('the writer has come so far', () => early.entries.length > moment);
      await server.kill9();
      await server.restart();
    }
    const late = startFollower(api.streamManager, session.id, 300);
    await speaking;
    const all = [early, other, late];
    await until('all have all', () =>
      all.every(({ entries }) => textIn(entries).endsWith(sent.at(-1) ?? '')),
    );
    await Promise.all(all.map((follower) => follower.stop()));
    const log = await session.log();
    expect(textIn(log)).toBe(sent.join(''));
    expect(early.entries).toEqual(log);
    expect(other.entries).toEqual(log);
    expect(late.entries).toEqual(log.slice(300));
  });

  it('a write that was in flight when Redis restarts is repeated and stored once', async () => {
    const worker = await open('wait');
    const session = drive(worker);
    const { writer } = await session.claimed();
    const writes = Array.from({ length: 50 }, (_, n) =>
      session.say(writer, n + 1, `${String(n)} `),
    );
    const restarted = server.restart();
    const replies = await Promise.all(writes);
    await restarted;
    expect(replies.map(({ kind }) => kind)).toEqual(replies.map(() => 'appended'));
    expect(textIn(await session.log())).toBe(writes.map((_, n) => `${String(n)} `).join(''));
  });
});

describe('subscriptions', () => {
  it('subscriptions are renewed when the connection is back, those to stops too', async () => {
    const worker = await open('wait');
    const redis = new Redis(server.url);
    redis.on('error', () => undefined);
    let heard = 0;
    await worker.streamManager.onStop('renewed', () => (heard += 1));
    await server.restart();
    await until('a stop is heard', async () => {
      await redis.spublish('hx:{renewed}:stop', 'any run').catch(() => undefined);
      return heard > 0;
    });
    redis.disconnect();
  });

  it('the stores can be closed while subscriptions are renewed', async () => {
    const proxy = await startTcpProxy(server.port);
    const redis = new Redis(server.url);
    const stores = createRedisStores({
      url: `redis://127.0.0.1:${String(proxy.port)}`,
      whenAway: 'wait',
    });
    await stores.streamManager.onStop('closed', () => undefined);
    await until('it is subscribed', async () => {
      return (await countSubscribers(redis, 'closed', 'stop')) > 0;
    });
    proxy.cut();
    await proxy.holdAt('ssubscribe', 'before');
    await stores.close();
    // An unobserved rejection would end a process; here it fails the test.
    await redis.ping();
    redis.disconnect();
    await proxy.close();
  });
});

describe('a Redis that is away', () => {
  it('callers get a typed error while Redis is away, and are served when it is back', async () => {
    const api = await open('refuse');
    const session = drive(api);
    await session.begin();
    await server.stop();
    await expect(session.begin({ messages: [userMessage('u2')] })).rejects.toMatchObject({
      name: 'HelixError',
      code: 'unavailable',
    });
    await expect(api.store.sessions.read(session.id)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await server.restart();
    await until('the API has Redis again', () => answers(api));
    expect(await api.store.sessions.read(session.id)).toMatchObject({ status: 'starting' });
  });

  it('a follower can leave while Redis is away', async () => {
    const api = await open('refuse');
    const redis = new Redis(server.url);
    const session = drive(api);
    await session.begin();
    const follower = startFollower(api.streamManager, session.id, 0);
    await until('it is subscribed', async () => {
      return (await countSubscribers(redis, session.id)) > 0;
    });
    redis.disconnect();
    await server.stop();
    // This reader polls the log while Redis is away.
    const reader = startFollower(api.streamManager, session.id, 0);
    await expect(api.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await follower.stop();
    await reader.stop();
    await server.restart();
  });

  it.each(['refuse', 'wait'] as const)(
    'a store that was opened just now waits for its first connection (%s)',
    async (whenAway) => {
      const stores = createRedisStores({ url: server.url, whenAway });
      opened.push(stores);
      const [session] = await Promise.all([
        stores.store.sessions.read('unknown'),
        stores.ping(),
        stores.settings(),
      ]);
      expect(session).toBeUndefined();
    },
  );

  it('a follower can leave before Redis was ever reachable', async () => {
    const nowhere = createRedisStores({ url: 'redis://127.0.0.1:1', whenAway: 'refuse' });
    opened.push(nowhere);
    const follower = startFollower(nowhere.streamManager, 'never', 0);
    await expect(nowhere.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await follower.stop();
    expect(follower.entries).toEqual([]);
  });

  it('followers get a typed error when Redis stays away', async () => {
    const subscriber = new Redis({ port: 1, host: '127.0.0.1', maxRetriesPerRequest: null });
    subscriber.on('error', () => undefined);
    const tail = createTail(subscriber, noLog, { outageMs: 300 });
    const following = tail.follow('never', 0, new AbortController().signal);
    await expect(following.next()).rejects.toMatchObject({ code: 'unavailable' });
    subscriber.disconnect();
  });

  it('a follower repeats its subscription until Redis is back', async () => {
    await server.stop();
    // Without an offline queue, each try fails at once.
    const redis = new Redis(server.url);
    const subscriber = new Redis(server.url, { enableOfflineQueue: false });
    for (const each of [redis, subscriber]) each.on('error', () => undefined);
    const streamManager = new RedisStreamManager(redis, subscriber);
    const follower = startFollower(streamManager, 'early', 0);
    await expect(subscriber.ping()).rejects.toThrow();
    await server.restart();
    const writer = await streamManager.createWriter('early', 'a', 'tester');
    await writer.write(textChunk('here', 1, 'a'));
    await until('it has come', () => follower.entries.length === 1);
    await follower.stop();
    for (const each of [redis, subscriber]) each.disconnect();
  });
});

const noLog: TailedLog = {
  channelOf: (streamId) => streamId,
  read: () => Promise.resolve({ entries: [], sequence: 0, server: '' }),
  resolve: (_, entries) => entries,
};
