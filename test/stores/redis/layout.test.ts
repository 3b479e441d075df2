import { describe, expect, it } from '@jest/globals';
import { dumpKeys, type DumpedKey } from '../../support/redis-dump.js';
import { drive, newCall, userMessage } from '../../support/session-driver.js';
import { openTestStores } from '../../support/test-stores.js';

const newer = {
  name: 'HelixError',
  code: 'unavailable',
  message: expect.stringContaining('newer release') as unknown,
};

/** A run whose second step waits for an approval, and a call that has started. */
async function openSession() {
  const stores = await openTestStores();
  const session = drive(stores);
  const { runId } = await session.newRun();
  await session.ask(runId, 1, [newCall('work', 'server'), newCall('ask', 'approval')]);
  await session.start(runId, 1, 'work', 1);
  const root = `hx:{${session.id}}:root`;
  const layout = (): Promise<string | null> => stores.redis.hget(root, 'layout');
  return { ...stores, session, runId, root, layout };
}

describe('the layout of a record', () => {
  it('the layout is stored when a run begins, also in a session of an earlier release', async () => {
    const { redis, session, runId, root, layout } = await openSession();
    expect(await layout()).toBe('1');
    await session.stop();
    await session.end(runId, 'interrupted');
    for (const begin of [
      () => session.begin({ messages: [userMessage('next')] }),
      () => session.resume(),
      () => session.retry(),
    ]) {
      await redis.hdel(root, 'layout');
      await begin();
      expect(await layout()).toBe('1');
      await session.end((await redis.hget(root, 'run')) ?? '', 'interrupted');
    }
  });

  it('of a newer release: nothing is changed, and the refusal may be tried again', async () => {
    const { redis, store, streamManager, session, runId, root } = await openSession();
    await redis.hset(root, 'layout', 4);
    const dump = (): Promise<DumpedKey[]> => dumpKeys(redis, `*${session.id}*`);
    const before = await dump();
    const next = session.writer(runId, 2, 1);
    for (const change of [
      () => session.begin({ messages: [userMessage('u2')] }),
      () => session.begin({ messages: [userMessage('u2')], policy: 'queue' }),
      () => session.claim(next),
      () => session.commit(session.writer(runId, 1, 1)),
      () => session.start(runId, 1, 'work', 2),
      () => session.finishCall(runId, 1, 'work', 'done', 1),
      () => session.decide(runId, 'ask', true),
      () => session.stop(),
      () => session.end(runId, 'failed'),
      () => session.resume(),
      () => store.sessions.erase(session.id),
    ]) {
      await expect(change()).rejects.toMatchObject(newer);
    }
    expect(await dump()).toEqual(before);
    // What is known of it is shown as ever.
    expect(await store.sessions.view(session.id)).toMatchObject({ openCalls: [{}, {}] });
    expect((await streamManager.getAllChunks(session.id)).length).toBeGreaterThan(0);
    await redis.hset(root, 'layout', 2);
    expect(await session.decide(runId, 'ask', true)).toMatchObject({ kind: 'stored' });
  });
});
