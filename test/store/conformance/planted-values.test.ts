import { drive, newCall } from '../../support/session-driver.js';
import { openTestStores } from '../../support/test-stores.js';

/** Opens a paused session with one chunk in its log; returns names of its keys. */
async function openSession() {
  const stores = await openTestStores();
  const session = drive(stores);
  const { runId } = await session.asked(newCall('a', 'approval'));
  const key = (name: string): string => `hx:{${session.id}}:${name}`;
  return { ...stores, session, runId, key };
}

const corrupt = { name: 'HelixError', code: 'corrupt_record' };

describe('a value that another program wrote to Redis', () => {
  it.each([
    ['is not JSON', '900-0', ['w', 'm1', 'c', '{"type":"text_del']],
    ['is JSON, but no message', '900-0', ['w', 'm1', 'c', '[]']],
    ['has no type', '900-0', ['w', 'm1', 'c', '{}']],
    ['has other fields', '900-0', ['a', 'b']],
    ['has an id of its own', '900-7', ['w', 'm1', 'c', '{"type":"text_delta"}']],
  ])('readers of an entry that %s end with a typed failure', async (_what, id, fields) => {
    const { redis, store, streamManager, session, runId, key } = await openSession();
    await session.decide(runId, 'a', true);
    const live = await streamManager.createReader(session.id);
    await redis.xadd(key('stream'), id, ...fields);
    await redis.hset(key('root'), 'seq', 900);
    const readAll = async (): Promise<void> => {
      for await (const chunk of live) expect(chunk.type).not.toBe('text_delta');
    };
    await expect(readAll()).rejects.toMatchObject(corrupt);
    await expect(streamManager.read(session.id, 0, 100)).rejects.toMatchObject(corrupt);
    await expect(streamManager.getAllChunks(session.id)).rejects.toMatchObject(corrupt);
    // The session itself is intact and ends as usual.
    await store.runs.end({
      sessionId: session.id,
      runId,
      agentType: 'tester',
      step: 1,
      status: 'failed',
      now: 1,
    });
    expect(await store.sessions.read(session.id)).toMatchObject({ status: 'failed' });
  });

  it('readers of a row that is not JSON end with a typed failure', async () => {
    const { redis, store, session, key } = await openSession();
    await redis.rpush(key('rows'), '{"role":"us');
    await expect(store.documents.load(session.id)).rejects.toMatchObject(corrupt);
  });

  it('a large result that is gone is named as lost, in the transcript and in the log', async () => {
    const { redis, streamManager, session, runId, key } = await openSession();
    await session.decide(runId, 'a', true);
    await session.start(runId, 1, 'a');
    await session.finishCall(runId, 1, 'a', 'x'.repeat(100_000));
    await session.claim(session.writer(runId, 2, 1));
    await redis.del(key('results'));
    expect((await session.rows()).at(-1)).toMatchObject({ errorCode: 'tool_result_lost' });
    expect(await streamManager.getAllChunks(session.id)).toContainEqual(
      expect.objectContaining({ type: 'tool_end', errorCode: 'tool_result_lost' }),
    );
  });

  it('readers of a checkpoint that is not JSON end with a typed failure', async () => {
    const { redis, store, session, key } = await openSession();
    await redis.hset(key('index'), 'cp:0', '{"id":"cpv');
    await expect(store.checkpoints.list(session.id)).rejects.toMatchObject(corrupt);
  });

  it('readers of a call that was cut end with a typed failure', async () => {
    const { redis, store, session, key } = await openSession();
    await redis.hset(key('content'), 'spec:a', '{"toolCallId":');
    await expect(store.calls.read(session.id, 'a')).rejects.toMatchObject(corrupt);
    await expect(store.calls.pending(session.id)).rejects.toMatchObject(corrupt);
  });

  it('readers of a call whose content is gone end with a typed failure, and others go on', async () => {
    const { redis, store, session, key } = await openSession();
    await redis.del(key('content'));
    await expect(store.calls.read(session.id, 'a')).rejects.toMatchObject(corrupt);
    expect(await store.documents.load(session.id)).toBeDefined();
  });

  it.each([
    ['seq', 'many'],
    ['record', '{"agent":'],
    ['call:a', '{"id":'],
  ])('readers of a wrong %s end with a typed failure', async (field, text) => {
    const { redis, store, session, key } = await openSession();
    await redis.hset(key('root'), field, text);
    await expect(store.documents.load(session.id)).rejects.toMatchObject(corrupt);
  });

  it.each(['stream', 'rows', 'root', 'content'])(
    'readers of a wrong value under the key of %s end with a typed failure',
    async (name) => {
      const { redis, store, streamManager, session, key } = await openSession();
      await redis.set(key(name), 'foreign');
      const isOfStream = name === 'stream' || name === 'root';
      for (const work of [
        ...(isOfStream ? [() => streamManager.getStreamInfo(session.id)] : []),
        ...(name === 'stream' ? [() => streamManager.getAllChunks(session.id)] : []),
        ...(name === 'stream' ? [] : [() => store.documents.load(session.id)]),
      ]) {
        await expect(work()).rejects.toMatchObject(corrupt);
      }
    },
  );
});
