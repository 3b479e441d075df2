import { dueShardOf } from '../../../store/contract/due.js';
import {
  createMemoryData,
  createMemoryStores,
  createStoresOn,
  type MemoryOptions,
} from '../../../store/memory/index.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { drive, newCall, userMessage } from '../../support/session-driver.js';

const HOUR = 3_600_000;

function storesWithClock(options: Omit<MemoryOptions, 'now'> = {}) {
  let time = 1_000_000;
  const stores = createMemoryStores({ ...options, now: () => time });
  const session = drive(stores);
  return {
    ...stores,
    session,
    pass: (ms: number): void => {
      time += ms;
    },
  };
}

describe('expiry in memory', () => {
  it('expiry removes the stream a day after the end, and leaves the session', async () => {
    const { session, store, streamManager, pass } = storesWithClock();
    await session.asked();
    const { sequence = 0 } = (await streamManager.inspect(session.id)) ?? {};
    pass(23 * HOUR);
    expect(await session.log()).not.toEqual([]);
    pass(2 * HOUR);
    expect(await session.log()).toEqual([]);
    expect(await streamManager.inspect(session.id)).toMatchObject({ sequence, chunks: 0 });
    expect(await store.sessions.rows(session.id, 0)).toHaveLength(2);

    const next = await session.newRun('u2');
    expect(next.startSequence).toBe(sequence);
  });

  it.each(['resume', 'retry'] as const)(
    'a run that continues after its stream has expired is counted anew (%s)',
    async (again) => {
      const { session, streamManager, pass } = storesWithClock();
      const { runId } = await session.newRun();
      await session.end(runId, 'interrupted');
      pass(25 * HOUR);
      await session[again]();
      const chunks = await streamManager.getAllChunks(session.id);
      expect(await streamManager.inspect(session.id)).toMatchObject({ chunks: chunks.length });
    },
  );

  it('expiry removes nothing of a run that waits, however long', async () => {
    const { session, store, pass } = storesWithClock({ sessionTtlSeconds: 60 });
    await session.asked(newCall('a', 'approval'));
    const before = [await store.documents.load(session.id), await session.log()];
    pass(5_000 * HOUR);
    expect([await store.documents.load(session.id), await session.log()]).toEqual(before);
  });

  it('expiry removes nothing while messages wait, and the stream a day after they are removed', async () => {
    const { session, store, pass } = storesWithClock();
    const { runId } = await session.newRun();
    await session.enqueue('later');
    await session.end(runId, 'failed');
    pass(5_000 * HOUR);
    expect(await session.log()).not.toEqual([]);
    await store.queue.remove({ sessionId: session.id, messageId: 'later', now: 1 });
    pass(25 * HOUR);
    expect(await session.log()).toEqual([]);
  });

  it.each([{ sessionTtlSeconds: 60 }, {}])(
    'expiry keeps a session that is still used, and its stream (%j)',
    async (options) => {
      const { session, store, pass } = storesWithClock(options);
      await session.asked();
      const before = await session.log();
      pass(59_000);
      await session.newRun('u2');
      pass(5_000 * HOUR);
      expect(await store.sessions.rows(session.id, 0)).toHaveLength(3);
      expect(await session.log()).toEqual(before);
    },
  );

  it('expiry removes the whole session after its own time', async () => {
    const { session, store, streamManager, pass } = storesWithClock({ sessionTtlSeconds: 60 });
    await session.asked();
    pass(60_001);
    expect(await store.documents.load(session.id)).toBeNull();
    expect(await streamManager.getStreamInfo(session.id)).toBeNull();
    expect(await session.log()).toEqual([]);
    expect(await session.newRun('u1')).toMatchObject({ turn: 1, startSequence: 0 });
  });

  it.each([0, 400_000])(
    'a copy is kept for its own time, with its files: %i s',
    async (seconds) => {
      const { store, session, pass } = storesWithClock({ sessionTtlSeconds: seconds });
      const { id: sessionId } = session;
      const file = { id: 'f', mediaType: 'text/plain', sha256: 'x', at: 1 };
      const limits = { files: 1, bytes: 9 };
      await store.files.add({ sessionId, owner: 'ann', file, content: Buffer.from('x'), limits });
      await store.sessions.branch({
        ...{ sessionId, agent: 'a', owner: 'ann', nonce: 'n', now: 1, rows: [], messages: [] },
        visibleMessages: 0,
        turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
      });
      pass(100 * HOUR);
      expect(await store.files.list(sessionId)).toHaveLength(1);
      pass(12 * HOUR);
      const isKept = seconds === 0;
      expect((await session.record()) !== undefined).toBe(isKept);
      expect(await store.files.list(sessionId)).toHaveLength(isKept ? 1 : 0);
    },
  );

  it('what is written after the end expires with the rest', async () => {
    let time = 1_000_000;
    const data = createMemoryData({ now: () => time, sessionTtlSeconds: 60 });
    const stores = createStoresOn(data);
    const session = drive(stores);
    await session.asked();
    await stores.store.documents.save(session.id, { customState: { late: true }, version: 0 });
    time += 59_999;
    expect(await session.load()).toMatchObject({ customState: { late: true } });
    time += 2;
    expect(data.keyspace.call('DBSIZE')).toBe(0);
  });

  it('expiry removes a stream without a session as a whole', async () => {
    const { streamManager, pass } = storesWithClock({ streamTtlSeconds: 60 });
    await streamManager.createWriter('s', 's', 'agent');
    pass(HOUR);
    expect(await streamManager.getStreamInfo('s')).not.toBeNull();
    await streamManager.endStream('s');
    pass(60_001);
    expect(await streamManager.getStreamInfo('s')).toBeNull();
  });

  it('expiry frees what is no longer used', async () => {
    const { session, store, streamManager, pass } = storesWithClock({ sessionTtlSeconds: 60 });
    await session.asked();
    pass(2 * HOUR);
    await drive({ store, streamManager }).newRun();
    pass(-2 * HOUR);
    expect(await store.sessions.read(session.id)).toBeUndefined();
  });

  it('an owner without conversations is repaired once more', async () => {
    const { session, store, pass } = storesWithClock();
    await session.begin();
    await store.owners.fold(session.id);
    pass(2 * HOUR);
    expect(await store.owners.take(10, HOUR)).toEqual([{ owner: 'ann' }]);
    expect(await store.owners.take(10, HOUR)).toEqual([]);
    await store.sessions.erase(session.id);
    await store.owners.repair({ owner: 'ann' });
    pass(2 * HOUR);
    expect(await store.owners.take(10, HOUR)).toEqual([]);
  });

  it('what is spent counts for its day and its month', async () => {
    const { session, store, pass } = storesWithClock();
    const { writer } = await session.claimed();
    const usage = { inputTokens: 1, outputTokens: 1, costMicroUsd: 7 };
    await session.commit(writer, { usage });
    await store.owners.fold(session.id);
    const spent = async () => (await store.usage.spent({ owner: 'ann' })).user;
    expect(await spent()).toEqual({ day: 7, month: 7 });
    pass(24 * HOUR);
    expect(await spent()).toEqual({ day: 0, month: 7 });
    pass(29 * 24 * HOUR);
    expect(await spent()).toEqual({ day: 0, month: 7 });
    pass(24 * HOUR);
    expect(await spent()).toEqual({ day: 0, month: 0 });
  });

  it('the reply to a request is kept for a time of its own', async () => {
    const { store, pass } = storesWithClock();
    const claim = () => store.requests.claim('key', 'digest', 1_000);
    await claim();
    await store.requests.settle('key', 'reply', HOUR, 'digest');
    pass(HOUR);
    expect(await claim()).toMatchObject({ reply: 'reply' });
    pass(1);
    expect(await claim()).toEqual({ kind: 'new' });
  });

  it('a sweep is not held up by a lease from before the clock was set back', async () => {
    const { store, pass } = storesWithClock();
    const lease = () => store.due.lease(1, 'sweeper', 1_000);
    expect(await lease()).toBe(true);
    pass(-HOUR / 4);
    expect(await lease()).toBe(false);
    pass(1_001);
    expect(await lease()).toBe(true);
  });

  it('the request of an operator lasts a day, also if it is repeated', async () => {
    const { store, pass } = storesWithClock();
    const ask = () => store.audit.ask('acme', { action: 'open', subject: 'p-1', by: 'ann' });
    await ask();
    pass(23 * HOUR);
    await ask();
    expect(await store.audit.asked('acme')).toHaveLength(1);
    pass(2 * HOUR);
    expect(await store.audit.asked('acme')).toEqual([]);
  });

  it('a conversation that is noted as waiting waits since its question', async () => {
    const { session, store, pass } = storesWithClock();
    await session.asked(newCall('a', 'approval'));
    const since = await store.waiting.since(session.id);
    pass(HOUR);
    await store.waiting.note(session.id);
    expect(await store.waiting.since(session.id)).toBe(since);
  });

  it('an erasure that is noted just now may be about to begin', async () => {
    let time = 1_000_000;
    const data = createMemoryData({ now: () => time });
    const { erasures } = createStoresOn(data).store;
    const list = createKeySpace().erasing({ owner: 'ann' });
    data.keyspace.call('ZADD', list, time, 's');
    for (const isListed of [true, false]) {
      expect(await erasures.pending({ owner: 'ann' })).toEqual([]);
      expect(data.keyspace.call('ZCARD', list)).toBe(isListed ? 1 : 0);
      time += 60_001;
    }
  });

  it('a deadline is over, and a lease free, at the very moment', async () => {
    const { session, store, pass } = storesWithClock();
    const within = { deadlineMs: 500 };
    const kinds = { a: 'approval', c: 'client', h: 'server' } as const;
    const { runId } = await session.asked(
      ...Object.entries(kinds).map(([id, kind]) => newCall(id, kind, within)),
    );
    const by = { writer: session.callWriter(runId, 1, 'h', 1), toolCallId: 'h', now: 1 };
    await store.calls.start({ ...by, hook: 'secret' });
    await store.calls.suspend(by);
    expect(await session.record()).toMatchObject({ deadline: 1_000_500 });
    await session.lease(runId, 'c', 'one', 500);

    pass(500);
    expect(await session.lease(runId, 'c', 'two')).toEqual({ kind: 'leased' });
    expect(await session.decide(runId, 'a', true)).toEqual({ kind: 'expired' });
    expect(await session.extend(runId, 'a', 100)).toEqual({ kind: 'expired' });
    const asked = { sessionId: session.id, agentType: 'tester', runId, toolCallId: 'h' };
    const row = { role: 'tool', toolCallId: 'h', toolName: 't', output: 1 } as const;
    const request = { ...asked, secret: 'secret', row, chunks: [], now: 1 };
    expect(await store.calls.settle({ source: 'webhook', ...request })).toEqual({
      kind: 'expired',
    });
    for (const id of Object.keys(kinds))
      expect(await session.expire(runId, id)).toMatchObject({ kind: 'stored' });
  });

  it('deadlines, snapshots, due times and leases use the same clock', async () => {
    const { session, store, pass } = storesWithClock();
    await session.begin({ messages: [userMessage('u1')] });
    const { runId = '' } = (await store.sessions.read(session.id)) ?? {};
    await session.ask(runId, 1, [newCall('c', 'client', { deadlineMs: 500 })]);
    await store.sessions.noteSnapshot(session.id, 1, true);
    await store.due.note(session.id, 500);
    const shard = dueShardOf(session.id);
    const max = { urgent: 5, routine: 5 };
    expect(await store.due.lease(shard, 'one', 500)).toBe(true);
    expect(await session.expire(runId, 'c')).toMatchObject({ kind: 'not_due' });
    expect(await store.due.take(shard, max, 1_000)).toEqual([]);
    expect(await store.due.lease(shard, 'two', 500)).toBe(false);

    pass(501);
    expect(await session.expire(runId, 'c')).toMatchObject({ kind: 'stored' });
    expect(await store.due.take(shard, max, 1_000)).toMatchObject([{ sessionId: session.id }]);
    expect(await store.due.lease(shard, 'two', 500)).toBe(true);
    expect(await store.sessions.read(session.id)).toMatchObject({ activeSnapshotTurn: 1 });

    pass(60_000);
    expect((await store.sessions.read(session.id))?.activeSnapshotTurn).toBeUndefined();
  });
});
