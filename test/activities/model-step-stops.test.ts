import { setImmediate } from 'node:timers/promises';
import { toRunStanding } from '../../runs/record/run-standing.js';
import { createHarness, openHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { hangAfter, open, rateLimited } from './hanging-model.js';

const { text, finish, says } = parts;

describe('model step', () => {
  it('a model step that waits for its provider is stopped without it', async () => {
    const { session, begin, step, model, stores } = await openHarness(() =>
      Promise.reject(rateLimited(60_000)),
    );
    const run = await begin();
    await expect(step(run, 1, 1)).rejects.toMatchObject({ type: 'provider_wait' });
    expect(await stores.store.runs.stop(session.id, { mode: 'interrupt' })).toMatchObject({
      kind: 'ended',
    });
    const record = await stores.store.sessions.read(session.id);
    expect(record && toRunStanding(record, Date.now())).toEqual({
      runId: run.runId,
      status: 'interrupted',
    });
    // Whatever becomes of the attempt that was to come.
    expect(await step(run, 1, 2)).toMatchObject({ kind: 'ended', status: 'interrupted' });
    expect(model.doStreamCalls).toHaveLength(1);
  });
  it.each(['interrupt', 'abort'] as const)(
    'a model step that is cut by %s keeps the partial reply',
    async (mode) => {
      const { session, begin, step, model, rows, stores } = await openHarness(
        (_, { abortSignal }) => hangAfter(open('So far'), abortSignal),
      );
      const running = step(await begin(), 1);
      await until('it speaks', async () => textIn(await session.log()) === 'So far');
      await stores.store.runs.stop(session.id, { mode });
      const status = mode === 'abort' ? 'aborted' : 'interrupted';
      expect(await running).toMatchObject({ kind: 'ended', step: 1, status });
      expect(await rows(1)).toMatchObject([{ interrupted: mode, parts: [{ text: 'So far' }] }]);
      expect(model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
    },
  );

  it('a model step that is cut by a stop settles its unfinished call', async () => {
    const { session, begin, step, rows, stores } = await openHarness((_, { abortSignal }) =>
      hangAfter(
        [
          ...text('I will'),
          { type: 'tool-input-start', id: 'c1', toolName: 'x' },
          { type: 'tool-input-delta', id: 'c1', delta: '{"a":' },
        ],
        abortSignal,
      ),
    );
    const running = step(await begin(), 1);
    await until(
      'the call is on its way',
      async () => (await session.messages('tool_arg_stream_delta')).length === 1,
    );
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    await running;
    expect(await rows(1)).toMatchObject([
      { parts: [{ text: 'I will' }, { type: 'tool-call', toolCallId: 'c1', input: {} }] },
      { role: 'tool', toolCallId: 'c1', errorCode: 'run_stopped' },
    ]);
  });

  it('a model step also stops when the model does not listen to its signal', async () => {
    const { session, begin, step, stores } = await openHarness(() =>
      hangAfter(open('Deaf'), undefined),
    );
    const running = step(await begin(), 1);
    await until('it speaks', async () => textIn(await session.log()) === 'Deaf');
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    expect(await running).toMatchObject({ kind: 'ended', status: 'interrupted' });
  });

  it('a late message about an earlier run does not cut a model step', async () => {
    const stores = await openTestStores();
    let before = '';
    const model = fakeModel(async function* () {
      yield* open('Hello');
      const heard = new Promise<void>((resolve) => {
        void stores.streamManager.onStop(session.id, () => {
          resolve();
        });
      });
      await stores.redis.spublish(`hx:{${session.id}}:stop`, before);
      await heard;
      await setImmediate();
      yield* [...text('Hello').slice(-1), ...finish()];
    });
    const { session, begin, step } = createHarness(stores, { model });
    before = (await begin()).runId;
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    expect(await step(await begin(), 1)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(textIn(await session.log())).toBe('Hello');
  });

  it('a model step that finds a stop makes no model call, and keeps the partial reply of the dead attempt', async () => {
    const { session, begin, step, model, rows, stores } = await openHarness(
      sayInTurn(says('never')),
    );
    const run = await begin();
    const dead = session.writer(run.runId, 1, 1);
    await session.claim(dead);
    await session.say(dead, 1, 'Last words');
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    expect(await step(run, 1, 2)).toEqual({ kind: 'ended', step: 1, status: 'interrupted' });
    expect(model.doStreamCalls).toHaveLength(0);
    expect(textIn(await session.log())).toBe('Last words');
    expect(await rows(1)).toMatchObject([
      { interrupted: 'interrupt', parts: [{ text: 'Last words' }] },
    ]);
  });

  it('a model step reports that a run was superseded or ended elsewhere', async () => {
    const { session, begin, step, model, stores } = await openHarness(sayInTurn());
    const run = await begin();
    await stores.store.runs.stop(session.id, { mode: 'abort' });
    expect(await step(run, 1)).toEqual({
      kind: 'ended',
      step: 1,
      status: 'aborted',
      error: { code: 'framework_cancelled', message: 'The run was aborted.', retryable: false },
    });
    await begin();
    expect(await step(run, 1)).toEqual({ kind: 'superseded' });
    expect(model.doStreamCalls).toHaveLength(0);
  });
});
