import { describe, expect, it } from '@jest/globals';
import { drive, newCall } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe('commit', () => {
  it('stores row, calls and pause together', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const calls = [newCall('a', 'approval', { timeoutMs: 5 }), newCall('c', 'client')];
    const result = await session.commit(writer, { calls });

    const view = await stores.store.readView(session.id);
    expect(result).toEqual({ kind: 'committed', sequence: view?.record.sequence, paused: true });
    expect(view?.record).toMatchObject({
      status: 'waiting_approval',
      stream: 'paused',
      committedStep: 1,
      pauseSequence: view?.record.sequence,
    });
    expect(view?.rows.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(view?.openCalls).toMatchObject([
      {
        state: 'waiting',
        askedAt: view?.record.sequence,
        spec: {
          toolCallId: 'a',
          kind: 'approval',
          runId,
          step: 1,
          input: { of: 'a' },
          approvalId: `${runId}::a`,
          timeoutMs: 5,
        },
      },
      { state: 'waiting', spec: { toolCallId: 'c', kind: 'client' } },
    ]);
    const types = (await session.log()).map(({ message }) => message.type);
    expect(types).toEqual(['step_end', 'suspension_marker', 'run_paused']);
    expect(await session.messages('run_paused')).toMatchObject([
      { reason: 'approval', pendingToolCallId: 'a', pendingToolName: 'approval-tool' },
    ]);
  });

  it('waits for client tools under their own status', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('c', 'client')]);
    expect(await stores.store.readRecord(session.id)).toMatchObject({ status: 'waiting_tool' });
    expect(await session.messages('run_paused')).toMatchObject([{ reason: 'client_tool' }]);
  });

  it('does not pause while a server tool is to run; its result does', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const calls = [newCall('s', 'server'), newCall('a', 'approval')];
    expect(await session.ask(runId, 1, calls)).toMatchObject({ paused: false });
    expect(await stores.store.readRecord(session.id)).toMatchObject({ stream: 'active' });
    await session.start(runId, 1, 's');
    expect(await session.messages('run_paused')).toEqual([]);
    await session.finishCall(runId, 1, 's', 1);
    expect(await stores.store.readRecord(session.id)).toMatchObject({ stream: 'paused' });
    const types = (await session.log()).map(({ message }) => message.type);
    expect(types.slice(-3)).toEqual(['tool_end', 'suspension_marker', 'run_paused']);
  });

  it('sent again returns the first outcome and writes nothing', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer, { calls: [newCall('a', 'approval')] });
    const before = await stores.store.readView(session.id);
    const again = await session.commit(writer, { calls: [newCall('other', 'approval')] });
    expect(again).toMatchObject({
      kind: 'done',
      outcome: { kind: 'calls', calls: [{ toolCallId: 'a' }] },
    });
    expect(await stores.store.readView(session.id)).toEqual(before);
  });

  it('sent again after it had ended the run returns how it ended', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer);
    expect(await session.commit(writer)).toEqual({
      kind: 'done',
      outcome: { kind: 'ended', step: 1, status: 'completed' },
    });
    expect(await session.messages('stream_end')).toHaveLength(1);
  });

  it('of a zombie is refused', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const zombie = session.writer(runId, 1, 1);
    await session.claim(zombie);
    await session.claim(session.writer(runId, 1, 2));
    expect(await session.commit(zombie)).toEqual({ kind: 'fenced' });
    expect(await stores.store.readRows(session.id, 0)).toHaveLength(1);
  });

  it('finds a stop first, unless it is the answer to one', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await stores.store.stop(session.id, { mode: 'interrupt', reason: 'why' });
    expect(await session.commit(writer)).toEqual({
      kind: 'stopped',
      stop: { mode: 'interrupt', reason: 'why' },
    });
    await session.commit(writer, {
      answersStop: true,
      final: { status: 'interrupted' },
      outcome: { kind: 'ended', step: 1, status: 'interrupted' },
    });
    expect(await session.messages('run_interrupted')).toMatchObject([
      { reason: 'why', checkpointId: `cpv1-${session.id}-s1-${runId.split(':')[1] ?? ''}` },
    ]);
    expect((await stores.store.readRecord(session.id))?.stop).toBeUndefined();
  });

  it('that is final ends run and stream', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const error = { code: 'provider_error', message: 'It failed.', retryable: true };
    await session.commit(writer, {
      final: { status: 'failed', error },
      outcome: { kind: 'ended', step: 1, status: 'failed', error },
      calls: [
        newCall('x', 'server', {
          row: { role: 'tool', toolCallId: 'x', toolName: 't', error: 'e' },
        }),
      ],
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'failed',
      stream: 'failed',
      error,
    });
    const types = (await session.log()).map(({ message }) => message.type);
    expect(types).toEqual(['step_end', 'error', 'stream_end']);
    const rows = await stores.store.readRows(session.id, 0);
    expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('with calls that were settled from the start leads to the next step', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const row = { role: 'tool' as const, toolCallId: 'x', toolName: 't', error: 'unknown' };
    expect(await session.ask(runId, 1, [newCall('x', 'server', { row })])).toMatchObject({
      paused: false,
    });
    expect(await session.claim(session.writer(runId, 2, 1))).toMatchObject({
      kind: 'claimed',
      rowCount: 3,
    });
  });
});
