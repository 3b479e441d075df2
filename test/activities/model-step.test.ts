import { echo } from '../../examples/lab/tools.js';
import { toNewestRun } from '../../runs/record/newest-run.js';
import { createHarness, openHarness } from '../support/activity-harness.js';
import { apiError, fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';
import { hangAfter, open, rateLimited } from './hanging-model.js';

const { text, call, finish, says, asks } = parts;

const refused = apiError(401);

describe('model step', () => {
  it('a model step streams and commits a reply, and ends the run', async () => {
    const { session, begin, step, rows } = await openHarness(sayInTurn(says('Hello.')));
    const run = await begin();
    expect(await step(run, 1)).toMatchObject({ kind: 'ended', step: 1, status: 'completed' });
    const log = await session.log();
    expect(textIn(log)).toBe('Hello.');
    const types = log.map(({ message }) => message.type);
    expect(types[0]).toBe('step_start');
    expect(types.slice(-4)).toEqual([
      'step_end',
      'checkpoint_created',
      'step_committed',
      'stream_end',
    ]);
    expect(await rows(1)).toMatchObject([
      { role: 'assistant', messageId: 'msg-1', parts: [{ type: 'text', text: 'Hello.' }] },
    ]);
  });

  it('a model step that is repeated after its commit returns what was committed, without a model call', async () => {
    const { session, begin, step, model } = await openHarness(sayInTurn(says('Once.')));
    const run = await begin();
    const first = await step(run, 1);
    expect(first).toMatchObject(await step(run, 1, 2));
    expect(model.doStreamCalls).toHaveLength(1);
    expect(textIn(await session.log())).toBe('Once.');
  });

  it('a reply is in the log before its step is committed, however slow the log is', async () => {
    const stores = await openTestStores();
    const { streamManager } = stores;
    const slow = Object.create(streamManager) as typeof streamManager;
    slow.append = async (...batch) => {
      for (let turn = 0; turn < 1_000; turn += 1) await new Promise(setImmediate);
      return streamManager.append(...batch);
    };
    const model = fakeModel(sayInTurn(says('Hello.')));
    const given = createHarness({ ...stores, streamManager: slow }, { model });
    expect(await given.play(await given.begin())).toMatchObject({ status: 'completed' });
    expect(textIn(await given.session.log())).toBe('Hello.');
  });

  it('a call after a retry has an id that no call of the dropped reply had', async () => {
    const stores = await openTestStores();
    const replies = () => [asks(call('c1', 'echo', { value: 'a' })), says('Done.')];
    const model = fakeModel(sayInTurn(...replies(), ...replies()));
    const { session, begin, play } = createHarness(stores, { model, tools: [echo] });
    await play(await begin());
    const again = await session.retry({});
    if (again.kind !== 'rewound') throw new Error(again.kind);
    expect(await play(again.run)).toMatchObject({ status: 'completed' });
    const rows = await stores.store.sessions.rows(session.id, 0);
    const ids = rows.flatMap((row) => (row.role === 'tool' ? row.toolCallId : []));
    expect(ids).toEqual(['c1_1']);
  });

  it('a crashed attempt leaves no text when the next one writes something else', async () => {
    const { session, begin, step, rows, stores } = await openHarness((n, { abortSignal }) =>
      n === 0 ? hangAfter(open('First draft'), abortSignal) : says('Second.'),
    );
    const run = await begin();
    const lost = step(run, 1, 1);
    await until(
      'the first attempt speaks',
      async () => textIn(await session.log()) === 'First draft',
    );
    // Temporal thinks that the first worker is dead; it is not.
    expect(await step(run, 1, 2)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(textIn(await session.log())).toBe('Second.');
    expect(await session.messages('stream_resync')).toMatchObject([{ reason: 'crash_recovery' }]);
    expect(await rows(1)).toMatchObject([{ parts: [{ text: 'Second.' }] }]);
    await stores.redis.spublish(`hx:{${session.id}}:stop`, run.runId);
    // The zombie comes back: whatever it was about to commit is refused.
    await lost.catch(() => undefined);
    expect(await rows(0)).toHaveLength(2);
  });

  it('a model step asks a failing provider again, within its budget, without doubled text', async () => {
    const { session, begin, step, model, rows } = await openHarness((n) => {
      if (n === 0) return Promise.reject(rateLimited());
      if (n === 1) return [...open('half a'), { type: 'error', error: rateLimited() }];
      if (n === 2) return text('cut');
      return n === 3 ? [...text('ended early'), ...finish('interrupted')] : says('whole');
    });
    expect(await step(await begin(), 1)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(textIn(await session.log())).toBe('whole');
    expect(await rows(1)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'text', text: 'whole' }] },
    ]);
    const limited = { reason: 'provider_rate_limited' };
    const cut = { reason: 'provider_stream_cut' };
    expect(await session.messages('step_discarded')).toMatchObject([limited, limited, cut, cut]);
    expect(await session.messages('stream_resync')).toHaveLength(3);
    expect(
      model.doStreamCalls.map(({ providerOptions }) => providerOptions?.['helix']),
    ).toMatchObject([1, 2, 3, 4, 5].map((attempt) => ({ attempt })));
  });

  it('a model step out of budget keeps the partial reply, and fails the run', async () => {
    const more = { llmConfig: { maxTries: 5 } };
    const { session, begin, step, model, rows } = await openHarness(
      (n) => [...open(`try ${String(n)}`), { type: 'error', error: rateLimited() }],
      { more },
    );
    expect(await step(await begin(), 1)).toMatchObject({
      kind: 'ended',
      status: 'failed',
      error: { code: 'provider_rate_limited', retryable: true },
    });
    expect(model.doStreamCalls).toHaveLength(5);
    expect(textIn(await session.log())).toBe('try 4');
    expect(await rows(1)).toMatchObject([{ interrupted: 'failure', parts: [{ text: 'try 4' }] }]);
    expect(await begin()).toMatchObject({ messageId: 'msg-3' });
  });

  it('a model step frees its slot during a long wait, and counts failures over attempts', async () => {
    const { session, begin, step, model, record } = await openHarness((n) =>
      Promise.reject(n === 2 ? rateLimited(400_000) : rateLimited(n === 4 ? 300_000 : 1)),
    );
    const run = await begin();
    const left: unknown = await step(run, 1, 1).catch((error: unknown) => error);
    expect(left).toMatchObject({ type: 'provider_wait', category: 'BENIGN', nonRetryable: false });
    const nextRetryDelay = Number((left as { nextRetryDelay: unknown }).nextRetryDelay);
    expect(nextRetryDelay).toBeGreaterThanOrEqual(400_000);
    expect(nextRetryDelay).toBeLessThan(402_001);
    const waiting = await record();
    if (waiting === undefined) throw new Error('no session');
    // Active, however long it is silent.
    const later = waiting.updatedAt + 300_000;
    expect(toNewestRun(waiting, later)).toEqual({
      runId: run.runId,
      status: 'running',
      waitingFor: 'provider',
    });
    expect(toNewestRun(waiting, later + 200_000)).toMatchObject({ stalled: true });

    // The second attempt is the fourth try; the wait that it is given would take longer than there is time.
    const more: unknown = await step(run, 1, 2).catch((error: unknown) => error);
    expect(more).toMatchObject({ type: 'provider_wait' });
    expect(
      model.doStreamCalls.map(({ providerOptions }) => providerOptions?.['helix']),
    ).toMatchObject([1, 2, 3, 4, 5].map((attempt) => ({ attempt })));
    expect(await session.messages('error')).toEqual([]);
  });

  it.each([
    [
      'will not be back in time',
      rateLimited(3_600_000),
      { code: 'provider_rate_limited', retryable: true },
    ],
    [
      'refuses for good',
      refused,
      {
        code: 'provider_unauthorized',
        retryable: false,
        message: 'The model provider refused the key.',
      },
    ],
  ])('a provider that %s is not asked again', async (_, fault, error) => {
    const { begin, step, model } = await openHarness(() => Promise.reject(fault));
    expect(await step(await begin(), 1)).toMatchObject({ status: 'failed', error });
    expect(model.doStreamCalls).toHaveLength(1);
  });

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
    expect(record && toNewestRun(record, Date.now())).toEqual({
      runId: run.runId,
      status: 'interrupted',
    });
    // Whatever becomes of the attempt that was to come.
    expect(await step(run, 1, 2)).toMatchObject({ kind: 'ended', status: 'interrupted' });
    expect(model.doStreamCalls).toHaveLength(1);
  });

  it.each([
    ['interrupt', 'interrupted', 'hears'],
    ['abort', 'aborted', 'hears'],
    ['interrupt', 'interrupted', 'is deaf to'],
  ] as const)(
    'a model step that is cut by %s is %s and keeps its partial reply, if the model %s its signal',
    async (mode, status, how) => {
      const { session, begin, step, model, rows, stores } = await openHarness(
        (_, { abortSignal }) =>
          hangAfter(open('So far'), how === 'hears' ? abortSignal : undefined),
      );
      const running = step(await begin(), 1);
      await until('it speaks', async () => textIn(await session.log()) === 'So far');
      await stores.store.runs.stop(session.id, { mode });
      expect(await running).toMatchObject({ kind: 'ended', step: 1, status });
      expect(await rows(1)).toMatchObject([{ interrupted: mode, parts: [{ text: 'So far' }] }]);
      expect(model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
    },
  );

  it('a reply that is cut before its first part shows no step, in the log and in its row', async () => {
    const { session, begin, step, model, rows } = await openHarness((_, { abortSignal }) =>
      hangAfter([], abortSignal),
    );
    const running = step(await begin(), 1);
    await until('the model is asked', () => model.doStreamCalls.length === 1);
    await session.stop();
    expect(await running).toMatchObject({ kind: 'ended', status: 'interrupted' });
    // Only the end of the run stands there.
    const stored = await rows(1);
    expect(stored).toMatchObject([{ role: 'assistant', display: true, parts: [] }]);
    expect(stored[0]).not.toHaveProperty('interrupted');
    const shown = (await session.log()).map(({ message }) => message.type);
    expect(shown.filter((type) => type === 'step_start' || type === 'step_end')).toEqual([]);
  });

  it('a model step that is cut by a stop settles its unfinished call', async () => {
    const { session, begin, step, rows, stores } = await openHarness((_, { abortSignal }) =>
      hangAfter([...text('I will'), ...parts.args('c1', 'x', '{"a":')], abortSignal),
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
      await new Promise(setImmediate);
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
