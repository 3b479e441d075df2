import { Redis } from 'ioredis';
import { closeStores, openStores } from '../../support/open-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { drive, textIn } from '../../support/session-driver.js';
import { openSpeaker } from '../../support/speaker.js';
import { until } from '../../support/until.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});

afterAll(async () => {
  await closeStores();
  redis.disconnect();
  await server.close();
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
  for (const work of [
    () => drive(api, session.id).stop(),
    () => drive(api).newRun(),
    () => api.store.sessions.read(session.id),
    () => api.streamManager.getAllChunks(session.id),
    () => api.ping(),
  ]) {
    await expect(work()).rejects.toMatchObject({
      name: 'HelixError',
      code: 'unavailable',
      message: 'The conversation store cannot be reached right now.',
    });
  }
  await redis.script('KILL');
  expect(await endless).toBeInstanceOf(Error);
  await written;
  expect((await waiting)[0]).toMatchObject({ status: 'running' });
  expect(textIn(await session.log())).toBe('before after');
  expect(await drive(api, session.id).stop()).toMatchObject({ kind: 'stopping' });
  other.disconnect();
});
