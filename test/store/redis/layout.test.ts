import { LAYOUT } from '../../../session/record.js';
import { plant } from '../../support/stored-record.js';
import { dumpKeys, type DumpedKey } from '../../support/redis-dump.js';
import { drive, newCall, newNonce, userMessage } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';
import { createRedisStores } from '../../../store/redis/index.js';

/** Opens a session whose second step waits for an approval and a started call. */
async function openSession() {
  const stores = await openTestStores();
  const session = drive(stores);
  const { runId } = await session.asked(newCall('work', 'server'), newCall('ask', 'approval'));
  await session.start(runId, 1, 'work', 1);
  return { ...stores, session, runId };
}

it('a record of a newer layout is not changed, and the refusal may be tried again', async () => {
  const { redis, store, streamManager, session, runId } = await openSession();
  const layOut = (layout: number): Promise<void> =>
    plant(redis, session.id, (record) => {
      record.layout = layout;
    });
  await layOut(LAYOUT + 1);
  const dump = (): Promise<DumpedKey[]> => dumpKeys(redis, `*${session.id}*`);
  const before = await dump();
  const next = session.writer(runId, 2, 1);
  for (const change of [
    () => session.begin({ messages: [userMessage('u2')] }),
    () => session.begin({ messages: [userMessage('u2')], policy: 'queue' }),
    () => session.claim(next),
    () => session.commit(session.writer(runId, 1, 1)),
    () => session.say(session.callWriter(runId, 1, 'work', 1), 1, 'a word'),
    () => session.start(runId, 1, 'work', 2),
    () => session.finishCall(runId, 1, 'work', 'done', 1),
    () => session.decide(runId, 'ask', true),
    () => session.stop(),
    () => session.end(runId, 'failed'),
    () => session.resume(),
    () => store.sessions.erase(session.id),
  ]) {
    await expect(change()).rejects.toMatchObject({
      name: 'HelixError',
      code: 'unavailable',
      message: expect.stringContaining('newer build') as unknown,
    });
  }
  expect(await dump()).toEqual(before);
  // The readable parts of the session are still shown.
  expect(await store.sessions.view(session.id)).toMatchObject({ openCalls: [{}, {}] });
  expect((await streamManager.getAllChunks(session.id)).length).toBeGreaterThan(0);
  await layOut(LAYOUT);
  expect(await session.decide(runId, 'ask', true)).toMatchObject({ kind: 'stored' });
});

it('conversations of an earlier build are named at the start, and not begun anew', async () => {
  const { redis } = await openTestStores();
  const prefix = `t${newNonce()}`;
  const stores = createRedisStores({ url: sharedRedisUrl(), prefix });
  await redis.hset(`${prefix}:{old}:root`, { agent: 'tester', status: 'completed' });
  await redis.zadd(`${prefix}:owners`, 1, '["","ann"]');
  await redis.zadd(`${prefix}:owner:{u:ann}:u:ann:sessions`, -1, 'old');
  const { warnings } = await stores.settings();
  expect(warnings).toContainEqual(expect.stringContaining('made by an earlier build'));
  await expect(drive(stores, 'old').newRun()).rejects.toMatchObject({ code: 'corrupt_record' });
  expect(await redis.hkeys(`${prefix}:{old}:root`)).toEqual(['agent', 'status']);
  await stores.close();
});
