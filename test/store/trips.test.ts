import { Redis } from 'ioredis';
import { formatCheckpointId } from '../../protocol/ids.js';
import { textChunk } from '../../store/conformance/fixtures.js';
import { takeStep } from '../../store/conformance/session/played-turns.js';
import { childAt, grow } from '../../store/conformance/tree.js';
import { LOAD } from '../../store/redis/atomic.js';
import { RedisStateStore, RedisStreamManager } from '../../store/redis/index.js';
import { drive, newCall, userMessage } from '../support/session-driver.js';
import { sharedRedisUrl } from '../support/test-stores.js';

let redis: Redis;
let streamManager: RedisStreamManager;
beforeAll(() => {
  redis = new Redis(sharedRedisUrl());
  streamManager = new RedisStreamManager(redis);
});
afterAll(async () => {
  await streamManager.close();
  await redis.quit();
});

/** Drives a session, and counts how often the store reads it. */
function setUp() {
  const stores = { store: new RedisStateStore(redis), streamManager };
  const sent = jest.spyOn(redis, 'evalsha');
  const reads = (): number => sent.mock.calls.filter(([sha]) => sha === LOAD.sha).length;
  const send = Redis.prototype.evalsha.bind(redis);
  const { claim } = stores.store.steps;
  const { start } = stores.store.calls;
  const session = drive(stores);
  return {
    session,
    stores,
    /** Claims the first step of a run, and asks for its rows. */
    claim: (runId: string, wants: { state: boolean; born?: string; rows?: number }) =>
      claim({
        writer: session.writer(runId, 1, 1),
        known: 0,
        now: Date.now(),
        wants: { born: '', rows: 0, ...wants },
      }),
    /** Asks for permission to execute a call, and for the agent's state. */
    start: (runId: string, toolCallId: string) =>
      start({
        writer: session.callWriter(runId, 1, toolCallId, 1),
        toolCallId,
        now: Date.now(),
        withState: true,
      }),
    beforeReads: (act: () => Promise<unknown>): void => {
      sent.mockImplementation(async (...command: Parameters<typeof send>) => {
        if (command[0] === LOAD.sha) await act();
        return send(...command);
      });
    },
    readsOf: async (work: () => unknown): Promise<number> => {
      const before = reads();
      await work();
      return reads() - before;
    },
  };
}

describe('the record is read once', () => {
  it('by a claim, with new rows and the state of the agent', async () => {
    const { session, claim, readsOf } = setUp();
    const { runId } = await session.newRun();
    await session.save({ a: 1 }, 0);
    const reads = await readsOf(async () => {
      expect(await claim(runId, { state: true })).toMatchObject({
        fresh: { from: 0, rows: [{ role: 'user' }] },
        state: { version: 1, customState: { a: 1 } },
      });
    });
    expect(reads).toBe(1);
  });

  it('by the commit of a step with calls, and by the permission to execute one', async () => {
    const { session, start, readsOf } = setUp();
    const { runId, writer } = await session.claimed();
    await session.save({ a: 1 }, 0);
    const commit = () =>
      session.commit(writer, { calls: [newCall('c1', 'server'), newCall('c2', 'server')] });
    expect(await readsOf(commit)).toBe(1);
    expect(await readsOf(() => start(runId, 'c1'))).toBe(1);
  });

  it('for the id of a new call', async () => {
    const { session, stores, readsOf } = setUp();
    const { runId } = await session.claimed();
    const asked = { sessionId: session.id, runId, call: '1 c1', wanted: 'c1' };
    const reads = await readsOf(async () => {
      expect(await stores.store.calls.takeId(asked)).toEqual({ kind: 'taken', id: 'c1' });
    });
    expect(reads).toBe(1);
  });

  it('for an answer, by the look at the call before it', async () => {
    const { session, readsOf } = setUp();
    const { runId } = await session.asked(newCall('c1', 'approval'));
    expect(await readsOf(() => session.call('c1'))).toBe(1);
    const reads = await readsOf(async () => {
      expect(await session.decide(runId, 'c1', true)).toMatchObject({ kind: 'stored' });
    });
    expect(reads).toBe(0);
  });

  it('again for an answer after another change', async () => {
    const { session } = setUp();
    const { runId } = await session.asked(newCall('c1', 'approval'));
    await session.call('c1');
    await session.decide(runId, 'c1', false);
    // What was kept still shows the call as waiting.
    expect(await session.decide(runId, 'c1', true)).toEqual({ kind: 'already_completed' });
  });
});

it('a claim reads no rows if they are many, and once the few that are new', async () => {
  const { session, claim, readsOf } = setUp();
  const messages = Array.from({ length: 101 }, (_, n) => userMessage(`m${String(n)}`));
  const { runId } = await session.newRun({ messages });
  const claimed = await claim(runId, { state: false });
  expect(claimed).toMatchObject({ rowCount: 101, fresh: { from: 101, rows: [] } });
  const { born = '' } = claimed.kind === 'claimed' ? claimed : {};
  const reads = await readsOf(async () => {
    const again = await claim(runId, { state: false, born, rows: 100 });
    expect(again).toMatchObject({ fresh: { from: 100, rows: [{ id: 'm100' }] } });
  });
  expect(reads).toBe(1);
});

it('an edit reads the messages of its turn in pages, and keeps those before its own', async () => {
  const { session, readsOf } = setUp();
  const messages = Array.from({ length: 25 }, (_, n) => userMessage(`m${String(n)}`));
  const { runId } = await session.newRun({ messages });
  await session.end(runId, 'interrupted');
  const edit = { messageId: 'm20', messages: [userMessage('m20', 'other')] };
  const reads = await readsOf(async () => {
    const run = { messageId: 'msg-21' };
    expect(await session.retry(edit)).toMatchObject({ kind: 'rewound', run });
  });
  expect(await session.rows()).toHaveLength(21);
  expect(reads).toBeLessThan(12);
});

it('a return to a checkpoint and a resumed run read few rows of a long turn with many results', async () => {
  const { session, readsOf } = setUp();
  const run = await session.newRun();
  const { runId } = run;
  const steps = 24;
  for (let step = 1; step < steps; step += 1) await takeStep(session, run, step);
  const calls = Array.from({ length: 40 }, (_, n) => newCall(`k${String(n)}`, 'server'));
  await session.ask(runId, steps, calls);
  for (const { toolCallId } of calls) await session.carryOut(runId, steps, toolCallId, 'done');
  await session.end(runId, 'interrupted', { step: steps });
  let resumed = '';
  const reads = await readsOf(async () => {
    const result = await session.resume();
    expect(result).toMatchObject({ kind: 'resumed', run: { from: { step: steps } } });
    if (result.kind === 'resumed') resumed = result.run.runId;
  });
  expect(reads).toBeLessThan(8);
  await session.end(resumed, 'interrupted', { step: steps });
  const back = (): Promise<unknown> => session.rewindTo(formatCheckpointId(runId, steps));
  expect(await readsOf(back)).toBeLessThan(16);
  expect(await session.rows()).toHaveLength(1 + 2 * (steps - 1) + 1 + calls.length);
});

it('a name that many calls of sub-agents want is found in few reads, while another of them speaks', async () => {
  const { session, stores, readsOf, beforeReads } = setUp();
  const tree = await grow({ ...stores, session }, 1, () => []);
  const { sessionId, runId } = childAt(tree, 0).ref;
  const take = (n: number) =>
    stores.store.calls.takeId({ sessionId, runId, call: String(n), wanted: 'c' });
  for (let n = 0; n < 30; n += 1) await take(n);
  const author = await streamManager.createWriter(session.id, 'other', 'tester');
  beforeReads(() => author.write(textChunk('on and on')));
  const reads = await readsOf(async () => {
    expect(await take(30)).toEqual({ kind: 'taken', id: 'c_30' });
  });
  expect(reads).toBeLessThan(8);
});
