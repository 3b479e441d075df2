import { setMaxListeners } from 'node:events';
import type { LogEntry } from '../../../protocol/chunk.js';
import { textChunk } from '../../../stores/conformance/fixtures.js';
import { createMemoryStores } from '../../../stores/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';

const sequences = (entries: readonly LogEntry[]): number[] =>
  entries.map(({ sequence }) => sequence);

describe('followers in memory', () => {
  it('followers get everything once and in order, however many there are and whenever they joined', async () => {
    const { streamManager } = createMemoryStores();
    const writer = await streamManager.createWriter('s', 's', 'agent');
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const follow = async (): Promise<LogEntry[]> => {
      const entries: LogEntry[] = [];
      for await (const page of streamManager.follow('s', 0, abort.signal)) entries.push(...page);
      return entries;
    };
    const followers: Promise<LogEntry[]>[] = [];
    const numbers = Array.from({ length: 300 }, (_, at) => at + 1);
    for (const n of numbers) {
      followers.push(follow());
      await writer.write(textChunk(`${String(n)} `));
    }
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    for (const entries of await Promise.all(followers)) expect(sequences(entries)).toEqual(numbers);
  });

  it('followers get the entries of one transition as one array, even beyond a page', async () => {
    const { streamManager, store } = createMemoryStores();
    const session = drive({ store, streamManager });
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const live = streamManager.follow(session.id, 0, AbortSignal.timeout(10_000));
    const pages = live[Symbol.asyncIterator]();
    await session.say(writer, 1, 'x');
    await pages.next();
    const arrival = pages.next();
    const chunks = Array.from({ length: 500 }, () => textChunk('x'));
    await session.commit(writer, { calls: [newCall('a', 'approval')], chunks });
    const { value: page = [] } = (await arrival) as IteratorResult<LogEntry[], undefined>;
    expect(page).toHaveLength(502);
    expect(page.at(-1)?.message.type).toBe('run_paused');
  });

  it('see the end of a session that is erased, then that it is gone', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'x');
    const pages = stores.streamManager
      .follow(session.id, 0, AbortSignal.timeout(10_000))
      [Symbol.asyncIterator]();
    await pages.next();
    const arrival = pages.next();
    await stores.store.sessions.erase(session.id);
    expect(await arrival).toMatchObject({
      value: [{ message: { type: 'stream_end', status: 'aborted' } }],
    });
    await session.newRun('u2');
    await expect(pages.next()).rejects.toMatchObject({ code: 'rewound' });
  });

  it('followers that are ahead of the stream are rewound', async () => {
    const { streamManager } = createMemoryStores();
    const follow = (): Promise<unknown> =>
      streamManager.follow('s', 5, AbortSignal.timeout(10_000))[Symbol.asyncIterator]().next();
    await expect(follow()).rejects.toMatchObject({ code: 'rewound' });
    const writer = await streamManager.createWriter('s', 's', 'agent');
    await writer.write(textChunk('x'));
    await expect(follow()).rejects.toMatchObject({ code: 'rewound' });
  });

  it('followers that leave keep no memory', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    let stops = 0;
    const leave = await stores.streamManager.onStop(session.id, () => (stops += 1));
    await session.newRun();
    await session.stop();
    leave();
    await session.newRun('u2');
    await session.stop();
    expect(stops).toBe(1);
  });
});
