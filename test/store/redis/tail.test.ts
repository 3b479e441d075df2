import type { LogEntry } from '../../../protocol/chunk.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import type { StreamManager } from '../../../store/log/stream-manager.js';
import { createTail } from '../../../store/redis/tail/tail.js';
import { textIn } from '../../support/session-driver.js';
import { countSubscribers, startFollower } from '../../support/follower.js';
import { openSpeaker } from '../../support/speaker.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

async function open() {
  const stores = await openTestStores();
  return { stores, ...(await openSpeaker(stores)) };
}

afterEach(() => {
  jest.useRealTimers();
});

describe('follow', () => {
  it('a follower reads a long log in pages and parses nothing twice', async () => {
    const { stores, session, say } = await open();
    await say(...Array.from({ length: 450 }, () => 'x'));
    const sizes: number[] = [];
    const controller = new AbortController();
    for await (const page of stores.streamManager.follow(session.id, 0, controller.signal)) {
      sizes.push(page.length);
      if (sizes.reduce((a, b) => a + b) === 450) break;
    }
    expect(sizes).toEqual([200, 200, 50]);
  });

  it('a follower repairs a lost publish even if nothing follows', async () => {
    jest.useFakeTimers();
    const message = { ...textChunk('a'), timestamp: 1 };
    const entries: LogEntry[] = [];
    const subscriber = {
      on: () => undefined,
      ssubscribe: () => Promise.resolve(),
      sunsubscribe: () => Promise.resolve(),
      ping: () => Promise.resolve(),
      options: {},
      status: 'ready',
    };
    const { follow } = createTail(subscriber, {
      channelOf: (streamId) => streamId,
      read: () => Promise.resolve({ entries, sequence: entries.length, server: '' }),
      resolve: (_, published) => published,
    });
    const controller = new AbortController();
    const pages: unknown[] = [];
    const next = follow('s', 0, controller.signal).next();
    void next.then(({ value }) => pages.push(value));
    await jest.advanceTimersByTimeAsync(100);
    entries.push({ sequence: 1, writer: 'm1', message });
    await jest.advanceTimersByTimeAsync(4_000);
    expect(pages).toEqual([entries]);
    controller.abort();
  });

  it('a follower reads the log as soon as its connection is back, without waiting for the idle check', async () => {
    const { stores, session, say } = await open();
    const follower = startFollower(stores.streamManager, session.id, 0);
    await say('a');
    await until('it is live', () => follower.entries.length === 1);
    await writeWithoutPublish(stores.redis, session.id, 2, 'b');
    await stores.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until('the log was read', () => follower.entries.length === 2, 2_500);
    await follower.stop();
  });

  it('a follower ends on request, and unsubscribes from the channel', async () => {
    const { stores, session, say } = await open();
    const follower = startFollower(stores.streamManager, session.id, 0);
    await say('a');
    await until('it is live', () => follower.entries.length === 1);
    expect(await countSubscribers(stores.redis, session.id)).toBe(1);
    await follower.stop();
    await until('the channel is left', async () => {
      return (await countSubscribers(stores.redis, session.id)) === 0;
    });
    await say('b');
    expect(textIn(follower.entries)).toBe('a');
  });

  it('a follower that ends at once reads nothing', async () => {
    const { stores, session, say } = await open();
    await say('a');
    expect(await collect(stores.streamManager, session.id, AbortSignal.abort())).toEqual([]);
  });

  it('all followers of a session share one subscription', async () => {
    const { stores, session, say } = await open();
    const first = startFollower(stores.streamManager, session.id, 0);
    const second = startFollower(stores.streamManager, session.id, 0);
    await say('a');
    await until('both are live', () => first.entries.length + second.entries.length === 2);
    expect(await countSubscribers(stores.redis, session.id)).toBe(1);
    await first.stop();
    await say('b');
    await until('the other one continues', () => second.entries.length === 2);
    await second.stop();
  });
});

/** Writes what an append leaves if its publish is lost. */
async function writeWithoutPublish(
  redis: Awaited<ReturnType<typeof openTestStores>>['redis'],
  sessionId: string,
  sequence: number,
  delta: string,
): Promise<void> {
  const chunk = { ...textChunk(delta, 1, sessionId), timestamp: 1 };
  const entry = ['w', 'm1', 'c', JSON.stringify(chunk)];
  await redis
    .multi()
    .xadd(`hx:{${sessionId}}:stream`, `${String(sequence)}-0`, ...entry)
    .hset(`hx:{${sessionId}}:root`, 'seq', sequence)
    .exec();
}

async function collect(
  streamManager: StreamManager,
  sessionId: string,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const all: LogEntry[] = [];
  for await (const page of streamManager.follow(sessionId, 0, signal)) all.push(...page);
  return all;
}
