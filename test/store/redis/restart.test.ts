import { startFollower } from '../../support/follower.js';
import { openStores } from '../../support/open-stores.js';
import { startRedis, type RedisServer } from '../../support/redis-server.js';
import { textIn } from '../../support/session-driver.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { until } from '../../support/until.js';

const WORDS = 600;

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});

afterAll(async () => {
  await server.close();
});

describe('a Redis that is killed and started again with its file', () => {
  it('a Redis that is killed and restarted with its file leaves readers and a writer without gap or duplicate', async () => {
    const [worker, api] = [await openStores(server.url), await openStores(server.url, 'api')];
    const { session, say } = await openSpeaker(worker);
    const early = startFollower(api.streamManager, session.id, 0);
    const other = startFollower(worker.streamManager, session.id, 0);
    const sent = words(WORDS);
    const speaking = say(...sent);
    for (const moment of [100, 250, 400]) {
      await until('the writer has come so far', () => early.entries.length > moment);
      await server.kill9();
      await server.restart();
    }
    const late = startFollower(api.streamManager, session.id, 300);
    await speaking;
    const all = [early, other, late];
    await until(
      'all have all',
      () => textIn(late.entries).endsWith(sent.at(-1) ?? '') && other.entries.length >= WORDS,
    );
    await until('the first has all', () => early.entries.length >= WORDS);
    await Promise.all(all.map((follower) => follower.stop()));
    const log = await session.log();
    expect(textIn(log)).toBe(sent.join(''));
    expect(early.entries).toEqual(log);
    expect(other.entries).toEqual(log);
    expect(late.entries).toEqual(log.slice(300));
  });
});
