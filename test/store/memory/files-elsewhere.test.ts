import { createSweep } from '../../../runs/sweep.js';
import { createUploads } from '../../../runs/uploads.js';
import { LIMITS } from '../../../protocol/limits.js';
import { createMemoryStores, type MemoryOptions } from '../../../store/memory/index.js';
import { addFile, createTestBucket } from '../../support/files-elsewhere.js';
import { drive, newSessionId } from '../../support/session-driver.js';

const MINUTE = 60_000;
const DAY = LIMITS.unclaimedFilesMs;
const logger = { warn: () => undefined };

function open(options: Omit<MemoryOptions, 'now'> = {}) {
  let time = 1_000_000;
  const bucket = createTestBucket();
  const { store, streamManager } = createMemoryStores({
    ...options,
    files: bucket,
    now: () => time,
  });
  const { files } = store;
  if (files.reclaim === undefined) throw new Error('memory does not expire bytes');
  const sweep = createSweep({
    store,
    holder: 'x',
    logger,
    runs: {
      sweepSession: async () => ({ kind: 'idle' }),
      finishErasures: async () => true,
    },
  });
  const id = newSessionId();
  return {
    id,
    store,
    files: { ...files, reclaim: files.reclaim },
    bucket,
    session: drive({ store, streamManager }, id),
    uploads: createUploads({
      store: { ...store, files },
      admit: () => Promise.resolve(() => undefined),
      logger,
    }),
    pass: (ms: number): void => {
      time += ms;
    },
    /** Lets time pass with regular sweeps. */
    sweepFor: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 30 * MINUTE) {
        time += 30 * MINUTE;
        await sweep();
      }
    },
  };
}

describe('bytes of files in a store of their own', () => {
  it('what no conversation claims is removed there by the sweep, a day after the last one', async () => {
    const { id, uploads, bucket, sweepFor, store } = open();
    const file = { sessionId: id, owner: 'ann', mediaType: 'image/png' };
    await uploads.upload({ ...file, content: Buffer.from('a') });
    await sweepFor(DAY / 2);
    await uploads.upload({ ...file, content: Buffer.from('b') });
    await sweepFor(DAY - 60 * MINUTE);
    expect(bucket.names()).toHaveLength(2);
    await sweepFor(120 * MINUTE);
    expect(bucket.names()).toEqual([]);
    expect(await store.files.reclaim?.(id)).toBeUndefined();
  });

  it('what no conversation claims is erased with the person who added it, and nothing else is', async () => {
    const { id, uploads, bucket, session, files } = open();
    const of = (sessionId: string, owner: string) =>
      uploads.upload({ sessionId, owner, mediaType: 'image/png', content: Buffer.from('a') });
    for (const sessionId of [id, 'unborn', 'emptied']) await of(sessionId, 'ann');
    const [emptied] = await files.list('emptied');
    await uploads.removeFile('emptied', emptied?.id ?? '');
    await of('other', 'bob');
    await session.begin({ owner: 'ann' });
    expect((await files.eraseUnclaimed({ owner: 'ann' })).sort()).toEqual(
      [id, 'emptied', 'unborn'].sort(),
    );
    const left = bucket.names().map((name) => name.split('/')[0]);
    expect(left.sort()).toEqual([id, 'other'].sort());
    expect(await files.eraseUnclaimed({ owner: 'ann' })).toEqual([]);
  });

  it('what a conversation has claimed stays, and goes when the conversation expires', async () => {
    const { id, uploads, bucket, sweepFor, session, store } = open({
      sessionTtlSeconds: (3 * DAY) / 1000,
    });
    const input = { sessionId: id, owner: 'ann', mediaType: 'image/png' };
    await uploads.upload({ ...input, content: Buffer.from('a') });
    const begun = await session.begin({ owner: 'ann', tenant: '' });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    await store.due.note(id, 0);
    await session.ask(begun.run.runId, 1, []);
    await sweepFor(2 * DAY);
    expect(bucket.names()).toHaveLength(1);
    await sweepFor(2 * DAY);
    expect(bucket.names()).toEqual([]);
  });

  it('what a conversation has claimed stays while its run is active, however long', async () => {
    const { id, store, files, session, pass } = open();
    await addFile(store, id, 'ann');
    await session.begin({ owner: 'ann', tenant: '' });
    pass(2 * DAY);
    expect(await files.list(id)).toHaveLength(1);
    expect(await files.reclaim(id)).toBeUndefined();
  });

  it('what another user’s conversation displaces is removed, and its own stays', async () => {
    const { id, store, files, bucket, session, pass } = open({ sessionTtlSeconds: DAY / 1000 });
    await addFile(store, id, 'ann');
    const { runId } = await session.newRun({ owner: 'bob', tenant: '' });
    const own = await addFile(store, id, 'bob');
    await session.end(runId, 'completed');
    // The displaced file may still be being written.
    expect(await files.reclaim(id)).toBeLessThan(11 * MINUTE);
    expect(bucket.names()).toEqual([`${id}/${own.id}`]);
    pass(11 * MINUTE);
    expect(await files.reclaim(id)).toBeGreaterThan(11 * MINUTE);
    expect(bucket.names()).toHaveLength(1);
  });

  it('a store that is away is asked again by the next sweep', async () => {
    const { id, uploads, bucket, sweepFor } = open();
    const file = { sessionId: id, owner: 'ann', mediaType: 'image/png' };
    await uploads.upload({ ...file, content: Buffer.from('a') });
    bucket.isAway = true;
    await sweepFor(DAY + 60 * MINUTE);
    expect(bucket.names()).toHaveLength(1);
    bucket.isAway = false;
    await sweepFor(60 * MINUTE);
    expect(bucket.names()).toEqual([]);
  });

  it('a file whose bytes could not be written leaves no trace', async () => {
    const { id, store, bucket } = open();
    jest.spyOn(bucket, 'write').mockRejectedValueOnce(new Error('it is full'));
    const cause = { message: 'it is full' };
    await expect(addFile(store, id, 'ann')).rejects.toMatchObject({ code: 'unavailable', cause });
    bucket.isAway = true;
    await expect(addFile(store, id, 'ann')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await store.files.list(id)).toEqual([]);
  });

  it('bytes that are written after their conversation was erased are removed once more', async () => {
    const { id, store, files, bucket, session, pass } = open();
    await session.begin({ owner: 'ann', tenant: '' });
    const { id: fileId } = await addFile(store, id, 'ann');
    await store.sessions.erase(id);
    expect(await files.reclaim(id)).toBe(10 * MINUTE);
    // The upload was slow, and its process died before it could check the record.
    await bucket.write({ sessionId: id, fileId }, Buffer.from('late'));
    pass(10 * MINUTE);
    expect(await files.reclaim(id)).toBeUndefined();
    expect(bucket.names()).toEqual([]);
  });

  it('a file that its owner removes is not asked for again', async () => {
    const { id, store, files } = open();
    const { id: fileId } = await addFile(store, id, 'ann');
    expect(await files.reclaim(id)).toBe(DAY + 1_000);
    await files.remove(id, fileId);
    expect(await files.reclaim(id)).toBeUndefined();
  });
});
