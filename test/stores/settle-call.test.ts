import { describe, expect, it } from '@jest/globals';
import { drive, newCall } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe('settle call', () => {
  it('lets the first of many decisions win', async () => {
    const stores = [await openTestStores('api'), await openTestStores('api')] as const;
    const session = drive(stores[0]);
    const other = drive(stores[1], session.id);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? session : other).decide(runId, 'a', n % 3 === 0),
      ),
    );
    const stored = results.filter(({ kind }) => kind === 'stored');
    expect(stored).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'already_completed')).toHaveLength(11);
    expect(await session.messages('run_resumed')).toHaveLength(1);
  });

  it('resumes only with the last answer of a batch, with all that were approved', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(
      runId,
      1,
      ['a', 'b', 'c'].map((id) => newCall(id, 'approval')),
    );
    expect(await session.decide(runId, 'a', true)).not.toHaveProperty('resume');
    expect(await session.decide(runId, 'b', false)).not.toHaveProperty('resume');
    expect(await stores.store.readRecord(session.id)).toMatchObject({ stream: 'paused' });
    expect(await session.decide(runId, 'c', true)).toMatchObject({
      kind: 'stored',
      resume: { step: 1, approved: ['a', 'c'] },
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'running',
      stream: 'active',
      resume: { step: 1, approved: ['a', 'c'] },
    });
  });

  it('resumes with nothing to run when all were denied', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    expect(await session.decide(runId, 'a', false)).toMatchObject({
      resume: { step: 1, approved: [] },
    });
    expect(await session.claim(session.writer(runId, 2, 1))).toMatchObject({ kind: 'claimed' });
  });

  it('takes an answer while siblings still run, without a pause in between', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
    await session.start(runId, 1, 's');
    expect(await session.decide(runId, 'a', true)).toMatchObject({ resume: { approved: ['a'] } });
    await session.finishCall(runId, 1, 's', 1);
    expect(await stores.store.readRecord(session.id)).toMatchObject({ stream: 'active' });
    expect(await session.messages('run_paused')).toEqual([]);
    expect(await session.messages('run_resumed')).toEqual([]);
  });

  it('checks kind and run of the pending record', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [
      newCall('a', 'approval'),
      newCall('c', 'client'),
      newCall('s', 'server'),
    ]);
    expect(await session.decide(runId, 'c', true)).toEqual({ kind: 'kind_mismatch' });
    expect(await session.decide(runId, 's', true)).toEqual({ kind: 'kind_mismatch' });
    expect(await session.decide(`${session.id}:9-x`, 'a', true)).toEqual({ kind: 'stale_run' });
    expect(await session.decide(runId, 'nothing', true)).toEqual({ kind: 'not_pending' });
    expect(await session.decide(runId, 'a', true)).toMatchObject({ kind: 'stored' });
  });

  it('says already completed to late duplicates, in later steps and turns too', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    await session.decide(runId, 'a', true);
    const duplicates = async (): Promise<unknown[]> => [
      await session.decide(runId, 'a', false),
      await session.finishCall(runId, 1, 'a', 'again', 2),
    ];
    const already = { kind: 'already_completed' };
    expect(await session.decide(runId, 'a', true)).toEqual(already);
    await session.start(runId, 1, 'a', 2);
    await session.finishCall(runId, 1, 'a', 'done', 2);
    expect(await duplicates()).toEqual([already, already]);
    await session.ask(runId, 2, []);
    expect(await duplicates()).toEqual([already, already]);
    await session.newRun();
    expect(await duplicates()).toEqual([already, already]);
  });

  it('takes a result from the attempt that was permitted, and from no other', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
    expect(await session.finishCall(runId, 1, 's', 'unstarted')).toEqual({ kind: 'fenced' });
    expect(await session.finishCall(runId, 1, 'a', 'unapproved')).toEqual({ kind: 'fenced' });
    await session.start(runId, 1, 's', 4);
    expect(await session.finishCall(runId, 1, 's', 'other', 3)).toEqual({ kind: 'fenced' });
    expect(await session.finishCall(runId, 1, 's', 'mine', 4)).toMatchObject({ kind: 'stored' });
  });

  it('creates nothing for a session that is not there', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    expect(await session.decide(`${session.id}:1-x`, 'a', true)).toEqual({ kind: 'not_pending' });
    expect(await session.claim(session.writer('r', 1, 1))).toEqual({ kind: 'superseded' });
    expect(await session.say(session.writer('r', 1, 1), 1, 'x')).toEqual({ kind: 'superseded' });
    expect(await session.start('r', 1, 'a')).toEqual({ kind: 'superseded' });
    expect(await session.commit(session.writer('r', 1, 1))).toEqual({ kind: 'superseded' });
    expect(await stores.store.stop(session.id, { mode: 'abort' })).toEqual({ kind: 'nothing' });
    expect(await stores.redis.keys(`*${session.id}*`)).toEqual([]);
  });
});
