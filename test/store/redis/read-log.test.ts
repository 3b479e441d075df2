import { Redis } from 'ioredis';
import { createContext } from '../../../store/redis/context.js';
import { createReadLog } from '../../../store/redis/tail/pages.js';
import { openSpeaker, words } from '../../support/speaker.js';
import { createRedisUser } from '../../support/redis-user.js';
import { openTestStores } from '../../support/test-stores.js';

describe('a page of the log', () => {
  it('a page of the log is of the same moment as its sequence', async () => {
    const stores = await openTestStores();
    const { session, say } = await openSpeaker(stores);
    const readLog = createReadLog(createContext(stores.redis));
    const speaking = say(...words(500));
    let from = 0;
    while (from < 500) {
      const { entries, sequence, server } = await readLog(session.id, from, 1_000);
      from = entries.at(-1)?.sequence ?? from;
      expect(sequence).toBe(from);
      expect(server).toMatch(/^[0-9a-f]{40}$/);
    }
    await speaking;
  });

  it('is read without a name of the server by a user who may not ask for it', async () => {
    const stores = await openTestStores();
    const { session, say } = await openSpeaker(stores);
    await say('hello');
    const { url } = await createRedisUser(stores.redis, 'hx', '-info');
    const redis = new Redis(url, { enableReadyCheck: false });
    const readLog = createReadLog(createContext(redis));
    for (let time = 1; time <= 2; time += 1) {
      const page = await readLog(session.id, 0, 10);
      expect(page).toMatchObject({ sequence: 1, server: '' });
      expect(page.entries).toHaveLength(1);
    }
    redis.disconnect();
  });

  it('of a stream that is not there is empty and at the start', async () => {
    const stores = await openTestStores();
    const readLog = createReadLog(createContext(stores.redis));
    expect(await readLog('nothing', 0, 10)).toMatchObject({ entries: [], sequence: 0 });
  });
});
