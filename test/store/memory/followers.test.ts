import type { LogEntry } from '../../../protocol/chunk.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';

describe('followers in memory', () => {
  it('followers get the entries of one change as one array, even beyond a page', async () => {
    const { streamManager, store } = createMemoryStores();
    const session = drive({ store, streamManager });
    const { writer } = await session.claimed();
    const live = streamManager.follow(session.id, 0, new AbortController().signal);
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
    const { writer } = await session.claimed();
    await session.say(writer, 1, 'x');
    const pages = stores.streamManager
      .follow(session.id, 0, new AbortController().signal)
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
