import { describe, expect, it } from '@jest/globals';
import { drive, newCall, textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe('claim', () => {
  it('makes the run and its stream active and tells how much there is to read', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId, messageId } = await session.newRun();
    expect(await session.claim(session.writer(runId, 1, 5))).toMatchObject({
      kind: 'claimed',
      rowCount: 1,
      sequence: 0,
      failures: 0,
      messageId,
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'running',
      stream: 'active',
      claimedStep: 1,
    });
  });

  it('of a lower token is refused, and so is that writer at its next write', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const [old, young] = [session.writer(runId, 1, 5), session.writer(runId, 1, 6)];
    await session.claim(old);
    await session.say(old, 1, 'a');
    await session.claim(young);

    expect(await session.claim(old)).toEqual({ kind: 'fenced' });
    expect(await session.say(old, 2, 'zombie')).toEqual({ kind: 'fenced' });
    expect(await session.commit(old)).toEqual({ kind: 'fenced' });
    expect(textIn(await session.log())).toBe('');
  });

  it('of a higher token withdraws what the lower one wrote, and only that', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server')]);
    await session.start(runId, 1, 's');
    await session.finishCall(runId, 1, 's', 1);
    const before = await session.log();
    const old = session.writer(runId, 2, 5);
    await session.claim(old);
    await session.say(old, 1, 'gone ');
    await session.say(old, 2, 'too');
    await session.claim(session.writer(runId, 2, 6));

    const after = await session.log();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(before.length).map(({ message, writer }) => [message.type, writer])).toEqual(
      [
        ['step_discarded', ''],
        ['stream_resync', ''],
      ],
    );
    expect(await session.messages('stream_resync')).toMatchObject([
      {
        reason: 'crash_recovery',
        stepCount: 1,
        messageCount: 3,
        checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}`,
      },
    ]);
    // The next entry never takes a number that was given before.
    await session.say(session.writer(runId, 2, 6), 1, 'new');
    expect((await session.log()).at(-1)?.sequence).toBe((before.at(-1)?.sequence ?? 0) + 5);
  });

  it('of a higher token emits no resync when there was nothing to withdraw', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.claim(session.writer(runId, 1, 5));
    await session.claim(session.writer(runId, 1, 6));
    expect((await session.log()).map(({ message }) => message.type)).toEqual(['step_discarded']);
  });

  it('sent again after the writer has spoken changes nothing', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 5);
    await session.claim(writer);
    await session.say(writer, 1, 'kept');
    expect(await session.claim(writer)).toMatchObject({ kind: 'claimed' });
    expect(await session.say(writer, 2, ' and more')).toMatchObject({ kind: 'appended' });
    expect(textIn(await session.log())).toBe('kept and more');
    expect(await session.messages('step_discarded')).toEqual([]);
  });

  it('of a committed step returns its first outcome, of an earlier one the newest', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server')]);
    const outcome = {
      kind: 'calls',
      step: 1,
      calls: [{ toolCallId: 's', toolName: 'server-tool', kind: 'server' }],
    };
    expect(await session.claim(session.writer(runId, 1, 9))).toEqual({ kind: 'done', outcome });
    await session.start(runId, 1, 's');
    await session.finishCall(runId, 1, 's', 1);
    await session.ask(runId, 2, []);
    expect(await session.claim(session.writer(runId, 1, 10))).toEqual({
      kind: 'done',
      outcome: { kind: 'ended', step: 2, status: 'completed' },
    });
  });

  it('is not ready while a call of the step before waits, and rewound while a step is missing', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    expect(await session.claim(session.writer(runId, 2, 1))).toEqual({ kind: 'not_ready' });
    await session.decide(runId, 'a', true);
    expect(await session.claim(session.writer(runId, 2, 1))).toEqual({ kind: 'not_ready' });
    await session.start(runId, 1, 'a');
    await session.finishCall(runId, 1, 'a', 1);
    expect(await session.claim(session.writer(runId, 3, 1))).toEqual({ kind: 'rewound' });
    expect(await session.claim(session.writer(runId, 2, 1))).toMatchObject({
      kind: 'claimed',
      rowCount: 3,
    });
  });

  it('finds the stop that was asked for while a model spoke', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.claim(session.writer(runId, 1, 5));
    await stores.store.stop(session.id, { mode: 'abort', reason: 'enough' });
    expect(await session.claim(session.writer(runId, 1, 6))).toEqual({
      kind: 'stopped',
      stop: { mode: 'abort', reason: 'enough' },
    });
  });

  it('takes results into the transcript in the order of the calls, each once', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('x', 'server'), newCall('y', 'server')]);
    for (const id of ['y', 'x']) {
      await session.start(runId, 1, id);
      await session.finishCall(runId, 1, id, `result of ${id}`);
    }
    await session.claim(session.writer(runId, 2, 1));
    await session.claim(session.writer(runId, 2, 2));
    const rows = await stores.store.readRows(session.id, 2);
    expect(rows).toMatchObject([
      { toolCallId: 'x', output: 'result of x' },
      { toolCallId: 'y', output: 'result of y' },
    ]);
    expect(await stores.store.readCall(session.id, 'x')).toBeUndefined();
  });
});
