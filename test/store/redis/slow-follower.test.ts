import type { LogEntry } from '../../../protocol/chunk.js';
import type { Batch } from '../../../store/redis/tail/batch.js';
import { createInbox } from '../../../store/redis/tail/inbox.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { startFollower } from '../../support/follower.js';
import { openSpeaker } from '../../support/speaker.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const ENTRIES = 5_000;
const PER_BATCH = 5;

it('a slow follower gets everything in order from the log, and delays no other follower', async () => {
  const stores = await openTestStores();
  const { session, writer } = await openSpeaker(stores);
  const controller = new AbortController();
  const slow = stores.streamManager.follow(session.id, 0, controller.signal);
  const pages = slow[Symbol.asyncIterator]();
  const next = async (): Promise<LogEntry[]> => {
    const result = (await pages.next()) as IteratorYieldResult<LogEntry[]>;
    return result.value;
  };
  const append = (n: number): Promise<unknown> =>
    stores.streamManager.append(
      writer,
      n,
      Array.from({ length: PER_BATCH }, () => textChunk(`${String(n)} `, 1, session.id)),
    );
  await append(1);
  const got = [...(await next())];
  // The slow follower stops reading here.
  const quick = startFollower(stores.streamManager, session.id, 0);
  for (let n = 2; n <= ENTRIES / PER_BATCH; n += 1) await append(n);
  await until('the quick one has all', () => quick.entries.length === ENTRIES);
  await quick.stop();

  const sizes: number[] = [];
  while (got.length < ENTRIES) {
    const page = await next();
    got.push(...page);
    sizes.push(page.length);
  }
  controller.abort();
  expect(got).toEqual(quick.entries);
  // The slow follower reads pages of the log, since the tail kept no published batches for it.
  expect(sizes.every((size) => size > PER_BATCH)).toBe(true);
});

describe('an inbox', () => {
  const batch = (size: number): Batch => ({ previous: 0, entries: [], size });

  it('an inbox keeps a bounded number of batches, then none', () => {
    const inbox = createInbox('s1');
    inbox.takeMiss();
    for (let n = 0; n < 256; n += 1) inbox.offer(batch(10));
    expect(inbox.first()).toBeDefined();
    inbox.offer(batch(10));
    expect(inbox.first()).toBeUndefined();
    inbox.offer(batch(10));
    expect(inbox.first()).toBeUndefined();
    expect(inbox.takeMiss()).toBe(true);
    inbox.offer(batch(10));
    expect(inbox.first()).toBeDefined();
  });

  it('an inbox keeps a bounded amount of text', () => {
    const inbox = createInbox('s1');
    inbox.takeMiss();
    const large = 64 * 1024;
    for (let n = 0; n < 16; n += 1) inbox.offer(batch(large));
    inbox.removeFirst();
    inbox.offer(batch(large));
    expect(inbox.takeMiss()).toBe(false);
    inbox.offer(batch(large));
    expect(inbox.first()).toBeUndefined();
    expect(inbox.takeMiss()).toBe(true);
    for (let n = 0; n < 16; n += 1) inbox.offer(batch(large));
    expect(inbox.takeMiss()).toBe(false);
  });
});
