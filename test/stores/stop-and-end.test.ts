import { describe, expect, it } from '@jest/globals';
import { drive, newCall, type SessionDriver } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

async function errorCodes(session: SessionDriver): Promise<(string | undefined)[]> {
  return (await session.messages('tool_end')).map(({ errorCode }) => errorCode);
}

describe('stop', () => {
  it('ends a paused run at once and settles what waited', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    expect(await stores.store.stop(session.id, { mode: 'interrupt', reason: 'bye' })).toEqual({
      kind: 'ended',
      runId,
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'interrupted',
      stream: 'ended',
    });
    expect(await errorCodes(session)).toEqual(['run_stopped']);
    expect(await session.messages('run_interrupted')).toMatchObject([{ reason: 'bye' }]);
    expect((await session.log()).at(-1)?.message.type).toBe('stream_end');
  });

  it('ends a run that has not begun to speak', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    expect(await stores.store.stop(session.id, { mode: 'abort' })).toEqual({
      kind: 'ended',
      runId,
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'aborted',
      stream: 'failed',
    });
    expect(await session.claim(session.writer(runId, 1, 1))).toEqual({ kind: 'superseded' });
  });

  it('between steps ends at once: started calls are unknown, others were not carried out', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server'), newCall('t', 'server')]);
    await session.start(runId, 1, 's');
    await stores.store.stop(session.id, { mode: 'interrupt' });
    expect(await errorCodes(session)).toEqual(['tool_outcome_unknown', 'run_stopped']);
    expect(await session.finishCall(runId, 1, 's', 'late')).toEqual({ kind: 'already_completed' });
  });

  it('while a model speaks leaves a record and tells the workers', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.claim(session.writer(runId, 1, 1));
    let told = 0;
    const leave = await stores.streamManager.onStop(session.id, () => {
      told += 1;
    });
    expect(await stores.store.stop(session.id, { mode: 'interrupt', by: 'ann' })).toEqual({
      kind: 'stopping',
      runId,
    });
    await until('the worker is told', () => told === 1);
    leave();
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      status: 'running',
      stop: { mode: 'interrupt', by: 'ann' },
    });
  });

  it('asked for again keeps the first reason, but an abort outdoes an interrupt', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.claim(session.writer(runId, 1, 1));
    const stopOf = async (): Promise<unknown> => (await stores.store.readRecord(session.id))?.stop;
    await stores.store.stop(session.id, { mode: 'interrupt', reason: 'first' });
    await stores.store.stop(session.id, { mode: 'interrupt', reason: 'second' });
    expect(await stopOf()).toEqual({ mode: 'interrupt', reason: 'first' });
    await stores.store.stop(session.id, { mode: 'abort', reason: 'third' });
    expect(await stopOf()).toEqual({ mode: 'abort', reason: 'third' });
  });

  it('of another run, or of one that has ended, does nothing', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const stop = { mode: 'interrupt' as const };
    expect(await stores.store.stop(session.id, { ...stop, runId: 'other' })).toEqual({
      kind: 'nothing',
    });
    await session.ask(runId, 1, []);
    const before = await session.log();
    expect(await stores.store.stop(session.id, stop)).toEqual({ kind: 'nothing' });
    expect(await session.log()).toEqual(before);
  });
});

describe('end', () => {
  const ended = { agentType: 'tester', step: 1, now: 1 } as const;

  it('ends a run once; later ends tell how it ended', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const end = { ...ended, sessionId: session.id, runId };
    expect(await stores.store.end({ ...end, status: 'completed' })).toEqual({
      kind: 'ended',
      status: 'completed',
    });
    expect(await stores.store.end({ ...end, status: 'failed' })).toEqual({
      kind: 'ended',
      status: 'completed',
    });
    expect(await session.messages('stream_end')).toMatchObject([{ status: 'completed' }]);
    await session.newRun();
    expect(await stores.store.end({ ...end, status: 'failed' })).toEqual({ kind: 'superseded' });
  });

  it('goes over the head of a silent writer, keeps its partial reply and fences it off', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId, messageId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'half a sen');
    await stores.store.stop(session.id, { mode: 'abort', reason: 'no answer' });
    const parts = [{ type: 'text' as const, text: 'half a sen' }];
    const row = { role: 'assistant' as const, messageId, runId, step: 1, parts };
    // The stop record says how, whatever the caller thought.
    expect(
      await stores.store.end({
        ...ended,
        sessionId: session.id,
        runId,
        status: 'interrupted',
        row: { ...row, interrupted: 'abort' },
      }),
    ).toEqual({ kind: 'ended', status: 'aborted' });
    expect(await session.say(writer, 2, 'tence')).toEqual({ kind: 'superseded' });
    expect(await session.commit(writer)).toEqual({ kind: 'superseded' });
    expect(await stores.store.readRows(session.id, 1)).toMatchObject([{ parts }]);
    expect(await session.newRun()).toMatchObject({ messageId: 'msg-3' });
  });

  it('that failed settles calls as such and keeps the error', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('s', 'server'), newCall('a', 'approval')]);
    await session.start(runId, 1, 's');
    const error = { code: 'framework_run_lost', message: 'Lost.', retryable: true };
    const end = { ...ended, sessionId: session.id, runId, status: 'failed' as const, error };
    await stores.store.end(end);
    expect(await errorCodes(session)).toEqual(['tool_outcome_unknown', 'run_failed']);
    expect(await session.messages('error')).toMatchObject([
      { error: 'Lost.', code: 'framework_run_lost', recoverable: false },
    ]);
    expect(await stores.store.readRecord(session.id)).toMatchObject({ stream: 'failed', error });
  });
});

describe('discard', () => {
  it('withdraws what the attempt wrote and counts a failure once', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'gone');
    const discard = (failure: number): Promise<unknown> =>
      stores.store.discard({ writer, failure, reason: 'provider_error', now: 1 });
    expect(await discard(1)).toEqual({ kind: 'discarded', failures: 1 });
    await session.say(writer, 2, 'again');
    expect(await discard(1)).toEqual({ kind: 'discarded', failures: 1 });
    expect((await session.messages('text_delta')).map(({ delta }) => delta)).toEqual(['again']);
    expect(await discard(2)).toEqual({ kind: 'discarded', failures: 2 });
    expect(await session.messages('text_delta')).toEqual([]);
    expect(await session.messages('step_discarded')).toMatchObject([
      { reason: 'provider_error', stepId: 's1' },
      { reason: 'provider_error' },
    ]);
    // The count outlives the worker that counted.
    expect(await session.claim(session.writer(runId, 1, 2))).toMatchObject({ failures: 2 });
  });

  it('is refused to a zombie and to a run that is over', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const young = session.writer(runId, 1, 2);
    await session.claim(young);
    await session.say(young, 1, 'kept');
    const discard = { failure: 1, reason: 'x', now: 1 };
    expect(await stores.store.discard({ ...discard, writer })).toEqual({ kind: 'fenced' });
    await session.commit(young);
    expect(await stores.store.discard({ ...discard, writer: young })).toEqual({
      kind: 'superseded',
    });
    expect(await session.messages('text_delta')).toHaveLength(1);
  });
});
