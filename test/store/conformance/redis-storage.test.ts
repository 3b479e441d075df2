import { createMemoryStores } from '../../../store/memory/index.js';
import { createRedisStores, type RedisStores } from '../../../store/redis/index.js';
import { drive, newCall, newSessionId, type SessionDriver } from '../../support/session-driver.js';
import { openTestStores, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const opened: RedisStores[] = [];

afterAll(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
});

/** Writes a whole turn with this number of words. */
async function speakTurn(session: SessionDriver, words: number, name: string): Promise<void> {
  const { writer } = await session.claimed();
  for (let n = 1; n <= words; n += 1) await session.say(writer, n, name);
  await session.commit(writer);
}

const deltas = async (session: SessionDriver): Promise<string> =>
  (await session.messages('text_delta')).map(({ delta }) => delta).join('');

describe('the log in Redis', () => {
  it('the log continues its sequence when the stream of the turn before has expired', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    await speakTurn(session, 3, 'a');
    const before = (await session.log()).at(-1)?.sequence ?? 0;
    await stores.redis.del(`hx:{${session.id}}:stream`);
    await speakTurn(session, 1, 'b');
    expect((await session.log()).map(({ sequence }) => sequence)).toEqual(
      [1, 2, 3].map((n) => before + n),
    );
    expect(await stores.streamManager.getStreamInfo(session.id)).toMatchObject({ totalChunks: 2 });
  });

  it.each(['Redis', 'memory'])(
    'the log in %s is trimmed by whole old turns beyond its cap, never in the current one',
    async (where) => {
      const redis = createRedisStores({ url: sharedRedisUrl(), whenAway: 'wait', maxChunks: 10 });
      opened.push(redis);
      const stores = where === 'Redis' ? redis : createMemoryStores({ maxChunks: 10 });
      const session = drive(stores);
      await speakTurn(session, 9, 'a');
      await speakTurn(session, 40, 'b');
      expect(await deltas(session)).toBe('a'.repeat(9) + 'b'.repeat(40));
      await speakTurn(session, 40, 'c');
      expect(await deltas(session)).toBe('b'.repeat(40) + 'c'.repeat(40));
      await speakTurn(session, 1, 'd');
      expect(await deltas(session)).toBe('c'.repeat(40) + 'd');
      const info = await stores.streamManager.getStreamInfo(session.id);
      expect(info?.totalChunks).toBe((await stores.streamManager.getAllChunks(session.id)).length);
    },
  );

  it('the log publishes everything that a change wrote at once, with the sequence before it', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { writer } = await session.claimed();
    await session.say(writer, 1, 'a');
    const listener = stores.redis.duplicate();
    const published: string[] = [];
    listener.on('smessage', (_channel: string, message: string) => published.push(message));
    await listener.ssubscribe(`hx:{${session.id}}:channel`);
    await session.commit(writer, { calls: [newCall('x', 'approval')] });
    await until('it has come', () => published.length > 0);
    const log = (await session.log()).slice(1);
    expect(published.map((text) => JSON.parse(text) as unknown)).toEqual([
      [1, log.map(({ sequence, writer: name, message }) => [sequence, name, message])],
    ]);
    listener.disconnect();
  });

  it('refused requests and reads of unknown sessions create no key', async () => {
    const { store, streamManager, redis } = await openTestStores();
    const id = newSessionId();
    const session = drive({ store, streamManager }, id);
    const lost = session.writer(`${id}:1-x`, 1, 1);
    await session.claim(lost);
    await session.say(lost, 1, 'x');
    await session.commit(lost, { calls: [newCall('a', 'approval')] });
    await session.start(lost.runId, 1, 'a');
    await session.finishCall(lost.runId, 1, 'a', 1);
    await session.decide(lost.runId, 'a', true);
    await session.answer(lost.runId, 'a', { output: 1 });
    await session.expire(lost.runId, 'a');
    await store.steps.discard({ writer: lost, failure: 1, reason: 'x', now: 1 });
    await session.stop();
    await session.end(lost.runId, 'failed');
    await store.sessions.noteSnapshot(id, 1, true);
    await store.staging.discard(id, 's1');
    await store.sessions.erase(id);
    await streamManager.cleanupToStep(id, 0);
    await streamManager.mark(id, { status: 'paused' }, 1);
    await streamManager.createResumableReader(id);
    await expect(streamManager.createWriter(id, 'a', 't', { attempt: -1 })).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(store.documents.save(id, { customState: {}, version: 0 })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await redis.keys(`*${id}*`)).toEqual([]);
  });
});
