import { readPages } from '../../../store/conformance/assertions.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { drive, newCall, newSessionId } from '../../support/session-driver.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

async function newAsking(owner: string): Promise<string> {
  const session = drive(stores);
  const { runId } = await session.newRun({ owner });
  await session.ask(runId, 1, [newCall('c1', 'approval')]);
  return session.id;
}

async function idsOf(owner: string): Promise<string[]> {
  const { sessions } = await stores.store.waiting.page({ owner }, { limit: 50 });
  return sessions.map(({ record }) => record.sessionId);
}

const keys = createKeySpace();

describe('sessions that wait for people', () => {
  it('a waiting session belongs to the owner in its record, whatever list it is on', async () => {
    const [ann, bob] = [`ann-${newSessionId()}`, `bob-${newSessionId()}`];
    const id = await newAsking(ann);
    await stores.redis.zadd(keys.waitingIndex({ owner: bob }), 1, id);
    expect(await idsOf(bob)).toEqual([]);
    expect(await stores.redis.exists(keys.waitingIndex({ owner: bob }))).toBe(0);
    expect(await idsOf(ann)).toEqual([id]);
  });

  it('sessions that asked within one millisecond are all found', async () => {
    const owner = newSessionId();
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) ids.push(await newAsking(owner));
    for (const id of ids) await stores.redis.zadd(keys.waitingIndex({ owner }), 5, id);
    const seen = await readPages(async (page) => {
      const { sessions, cursor } = await stores.store.waiting.page({ owner }, page);
      return [sessions.map(({ record }) => record.sessionId), cursor];
    });
    expect(seen).toEqual([...ids].sort());
  });
});
