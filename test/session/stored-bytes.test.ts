import { grow, heldCall } from '../../store/conformance/tree.js';
import { createMemoryData, createStoresOn } from '../../store/memory/index.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { drive, newCall, userMessage, type SessionDriver } from '../support/session-driver.js';

const LARGE = 'é'.repeat(50_000);

function open() {
  const data = createMemoryData();
  const stores = createStoresOn(data);
  const { call } = data.keyspace;
  /** Measures rows, results, states and the queue as they are stored. */
  const measure = (id: string): number => {
    const { rows, results, content } = createKeySpace().session(id);
    const fields = call('HGETALL', content) as string[];
    const texts = fields.filter((_, at) => at % 2 === 1 && /^[qv]:/.test(fields[at - 1] ?? ''));
    const all = [call('LRANGE', rows, 0, -1), call('HVALS', results), texts] as string[][];
    return all.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  };
  const expectCounted = async (session: SessionDriver): Promise<void> => {
    expect((await session.record())?.storedBytes).toBe(measure(session.id));
  };
  return { ...stores, session: drive(stores), expectCounted };
}

describe('the stored bytes of a conversation', () => {
  it('count what waits, and the states of its agent', async () => {
    const { session, store, expectCounted } = open();
    await session.begin({ state: { text: LARGE } });
    await expectCounted(session);
    await session.enqueue('u2');
    await session.enqueue('u3');
    await expectCounted(session);
    const edited = { message: userMessage('u2', LARGE), expectedHash: 'hello from u2', now: 1 };
    await store.queue.edit({ sessionId: session.id, ...edited });
    await expectCounted(session);
    await store.queue.remove({ sessionId: session.id, messageId: 'u2', now: 1 });
    await session.save({ text: 'short' }, 1);
    await expectCounted(session);
    await session.stop();
    await session.beginNext();
    await expectCounted(session);
  });

  it('count results, outputs and what is said of late answers, until they are rewound', async () => {
    const { session, expectCounted } = open();
    const late = newCall('late', 'client', { deadlineMs: 1 });
    const { runId } = await session.asked(newCall('s', 'server'), late);
    await session.carryOut(runId, 1, 's', LARGE);
    for (let kind = 'not_due'; kind === 'not_due';)
      ({ kind } = await session.expire(runId, 'late'));
    await expectCounted(session);
    const writer = session.writer(runId, 2, 1);
    await session.claim(writer);
    await session.answer(runId, 'late', { output: LARGE });
    await session.commit(writer, { calls: [newCall('t', 'server')] });
    await session.carryOut(runId, 2, 't', 1);
    await session.save({ text: LARGE }, 0);
    const last = session.writer(runId, 3, 1);
    await session.claim(last);
    await expectCounted(session);
    await session.commit(last, { output: { text: LARGE } });
    await expectCounted(session);
    await session.rewindTo(`cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}`);
    await expectCounted(session);
    await session.stop();
    await session.retry();
    await expectCounted(session);
  });

  it('count what sub-agents ask in it, and what they are answered', async () => {
    const { session, store, streamManager, expectCounted } = open();
    const tree = await grow({ session, store, streamManager }, 1, () => []);
    for (const { driver, ref } of tree.children) {
      await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
      await expectCounted(session);
      await session.decide(ref.runId, 'a', false);
      await driver.claim(driver.writer(ref.runId, 2, 1));
      await expectCounted(session);
    }
  });

  it('count what is copied', async () => {
    const { session, store, expectCounted } = open();
    const asked = userMessage('u1');
    await store.sessions.branch({
      sessionId: session.id,
      agent: 'agent',
      owner: 'ann',
      nonce: 'n',
      now: 1,
      rows: [
        asked.row,
        { role: 'user', id: 'h', parts: [], hidden: true },
        { role: 'tool', toolCallId: 's', toolName: 't', output: LARGE },
      ],
      messages: [asked],
      visibleMessages: 1,
      turn: { turn: 1, row: 0, messageId: 'msg-1', step: 0, hasReplied: false },
      state: { text: LARGE },
    });
    await expectCounted(session);
    expect(await session.record()).toMatchObject({ hasHidden: true });
  });
});
