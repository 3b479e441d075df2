import { describe, expect, it } from '@jest/globals';
import { drive, newCall } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe('start call', () => {
  it('permits a committed call, with the input that was committed', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server')]);
    expect(await session.start(runId, 1, 's')).toMatchObject({
      kind: 'execute',
      execution: 1,
      call: { toolCallId: 's', input: { of: 's' }, runId, step: 1 },
    });
  });

  it('sent again by the same attempt is the same permission', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server')]);
    const first = await session.start(runId, 1, 's', 7);
    expect(await session.start(runId, 1, 's', 7)).toEqual(first);
  });

  it('never permits a started call again: its outcome is unknown, said once', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server')]);
    await session.start(runId, 1, 's', 1);
    expect(await session.start(runId, 1, 's', 2)).toEqual({ kind: 'settled' });
    expect(await session.start(runId, 1, 's', 3)).toEqual({ kind: 'settled' });
    expect(await session.finishCall(runId, 1, 's', 'late', 1)).toEqual({
      kind: 'already_completed',
    });
    expect(await session.messages('tool_end')).toMatchObject([
      { toolCallId: 's', errorCode: 'tool_outcome_unknown', providerExecuted: true },
    ]);
    await session.claim(session.writer(runId, 2, 1));
    expect(await stores.store.readRows(session.id, 2)).toMatchObject([
      { toolCallId: 's', errorCode: 'tool_outcome_unknown' },
    ]);
  });

  it('permits a started call again when the tool is idempotent, and fences the first one', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server', { idempotent: true })]);
    await session.start(runId, 1, 's', 1);
    const old = session.callWriter(runId, 1, 's', 1);
    await session.say(old, 1, 'from the first');
    expect(await session.start(runId, 1, 's', 2)).toMatchObject({ kind: 'execute', execution: 2 });
    expect(await session.say(old, 2, 'zombie')).toEqual({ kind: 'fenced' });
    expect(await session.finishCall(runId, 1, 's', 'zombie', 1)).toEqual({ kind: 'fenced' });
    expect(await session.finishCall(runId, 1, 's', 'second', 2)).toMatchObject({ kind: 'stored' });
    expect(await session.messages('text_delta')).toEqual([]);
    expect(await session.start(runId, 1, 's', 1)).toEqual({ kind: 'settled' });
  });

  it('again withdraws what the first one wrote, and nothing of its siblings', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const calls = ['s', 't'].map((id) => newCall(id, 'server', { idempotent: true }));
    await session.ask(runId, 1, calls);
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 't', 1);
    await session.say(session.callWriter(runId, 1, 's', 1), 1, 'gone');
    await session.say(session.callWriter(runId, 1, 't', 1), 1, 'kept');
    await session.start(runId, 1, 's', 2);
    expect((await session.messages('text_delta')).map(({ delta }) => delta)).toEqual(['kept']);
  });

  it('refuses what nobody approved, what a person executes, and what nobody asked for', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval'), newCall('c', 'client')]);
    expect(await session.start(runId, 1, 'a')).toEqual({ kind: 'refused' });
    expect(await session.start(runId, 1, 'c')).toEqual({ kind: 'refused' });
    expect(await session.start(runId, 1, 'invented')).toEqual({ kind: 'refused' });
  });

  it('permits an approved call once', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    await session.decide(runId, 'a', true);
    expect(await session.start(runId, 1, 'a', 1)).toMatchObject({ kind: 'execute' });
    expect(await session.start(runId, 1, 'a', 2)).toEqual({ kind: 'settled' });
  });

  it('of a denied call finds it settled', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    await session.decide(runId, 'a', false);
    expect(await session.start(runId, 1, 'a')).toEqual({ kind: 'settled' });
  });

  it('pauses when the last busy call turns out to have an unknown outcome', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 's', 2);
    expect(await stores.store.readRecord(session.id)).toMatchObject({ status: 'waiting_approval' });
  });
});
