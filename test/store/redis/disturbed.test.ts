import { Redis } from 'ioredis';
import { startFollower } from '../../support/follower.js';
import { closeStores, openStores } from '../../support/test-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, textIn } from '../../support/session-driver.js';
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

describe('a Redis that loses its scripts or its data', () => {
  it('scripts that are flushed, or gone after a restart, are sent again', async () => {
    const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
    const { session, say } = await openSpeaker(worker);
    const follower = startFollower(api.streamManager, session.id, 0);
    const sent = words(200);
    const speaking = say(...sent);
    for (const moment of [20, 60, 100, 140]) {
      await until('the writer has come so far', () => follower.entries.length > moment);
      await redis.script('FLUSH');
    }
    await speaking;
    await until('all has come', () => follower.entries.length === sent.length);
    await follower.stop();
    expect(textIn(follower.entries)).toBe(sent.join(''));
    await server.restart();
    await until('Redis answers', () => redis.ping().then(Boolean, () => false));
    expect(await session.stop()).toMatchObject({ kind: 'stopping' });
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
});

it('beside a script that does not end clients are refused, and workers wait', async () => {
  const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
  const { session, say } = await openSpeaker(worker);
  await say('before');
  await redis.config('SET', 'busy-reply-threshold', '50');
  const other = new Redis(server.url);
  const endless = other.eval('while true do end', 0).catch((error: unknown) => error);
  const isBusy = async (): Promise<boolean> => {
    const error = await redis.ping().catch((reason: unknown) => reason);
    return error instanceof Error && error.message.startsWith('BUSY');
  };
  await until('Redis is busy', isBusy);
  // The reads of an attempt wait too: if they failed, the attempt would ask its model again.
  const waiting = Promise.all([
    worker.store.sessions.read(session.id),
    worker.store.sessions.view(session.id),
    worker.store.due.note(session.id, 0),
    worker.streamManager.getStreamInfo(session.id),
  ]);
  const written = say(' after');
  const refused = [
    drive(api, session.id).stop(),
    drive(api).newRun(),
    api.store.sessions.read(session.id),
    api.streamManager.getAllChunks(session.id),
    api.ping(),
  ];
  const refusal = {
    name: 'HelixError',
    code: 'unavailable',
    message: 'The conversation store cannot be reached right now.',
  };
  await Promise.all(refused.map((work) => expect(work).rejects.toMatchObject(refusal)));
  await redis.script('KILL');
  expect(await endless).toBeInstanceOf(Error);
  await written;
  expect((await waiting)[0]).toMatchObject({ status: 'running' });
  expect(textIn(await session.log())).toBe('before after');
  expect(await drive(api, session.id).stop()).toMatchObject({ kind: 'stopping' });
  other.disconnect();
});

it('what may be large is read on another connection than the one that starts runs', async () => {
  const stores = await openStores(server.url);
  const session = drive(stores);
  const last = async (): Promise<string[]> => {
    const clients = String(await redis.client('LIST')).split('\n');
    return clients.flatMap((line) => /\bcmd=(evalsha|eval|exec)\b/.exec(line)?.[1] ?? []).sort();
  };
  await session.newRun();
  await session.enqueue('next');
  expect(await last()).toEqual(['evalsha']);
  await stores.store.queue.read(session.id);
  expect(await last()).toEqual(['evalsha', 'evalsha']);
  await stores.store.sessions.view(session.id);
  expect(await last()).toEqual(['evalsha', 'exec']);
});
