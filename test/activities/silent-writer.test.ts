import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Row } from '../../protocol/rows.js';
import { forceEnd, type ForcedEnd } from '../../runs/record/force-end.js';
import { type ActivityHarness, openHarness } from '../support/activity-harness.js';
import { parts } from '../support/fake-model.js';
import { until } from '../support/until.js';

const REPLY: LanguageModelV4StreamPart[] = [
  ...parts.text('I will'),
  ...parts.args('done', 'x', '{"a":1}'),
  ...parts.args('cut', 'x', '{"a":'),
];

/** A step whose model has sent that reply, and is silent now. */
async function speaking(before: LanguageModelV4StreamPart[] = [], isSecondTurn = false) {
  const given = await openHarness(async function* (_, { abortSignal }) {
    yield* [...before, ...REPLY];
    await new Promise((_resolve, reject) => {
      abortSignal?.addEventListener('abort', () => {
        reject(new Error('aborted'));
      });
    });
  });
  if (isSecondTurn) await given.session.end((await given.session.newRun('u0')).runId, 'completed');
  const run = await given.begin();
  const step = given.step(run, 1);
  await until('the whole reply is in the log', async () => textOf(given));
  return { ...given, ...given.stores, run, step };
}

async function textOf({ session }: ActivityHarness): Promise<boolean> {
  const deltas = await session.messages('tool_arg_stream_delta');
  return deltas.map(({ delta }) => delta).join('') === '{"a":1}{"a":';
}

/** Ends the run in place of its writer. */
async function end(
  { session, store, streamManager }: Awaited<ReturnType<typeof speaking>>,
  how: Omit<ForcedEnd, 'now'>,
): Promise<void> {
  const record = await store.sessions.read(session.id);
  if (record === undefined) throw new Error('there is a record');
  await forceEnd({ store, streamManager }, record, { ...how, now: Date.now() });
}

const withoutIds = (rows: Row[]): unknown =>
  rows.map((row) => ({ ...row, runId: '', messageId: '' }));

describe('a writer that does not answer', () => {
  it('a silent writer leaves the same rows as one that confirms the stop', async () => {
    const confirms = await speaking();
    await confirms.store.runs.stop(confirms.session.id, { mode: 'interrupt' });
    await confirms.step;

    const silent = await speaking();
    await end(silent, { status: 'interrupted' });

    const [expected, stored] = await Promise.all(
      [confirms, silent].map(({ store, session }) => store.sessions.rows(session.id, 1)),
    );
    expect(withoutIds(stored ?? [])).toEqual(withoutIds(expected ?? []));
    expect(stored).toMatchObject([
      {
        interrupted: 'interrupt',
        parts: [
          { text: 'I will' },
          { toolCallId: 'done', input: { a: 1 } },
          { toolCallId: 'cut', input: {} },
        ],
      },
      { toolCallId: 'done', errorCode: 'run_stopped' },
      { toolCallId: 'cut', errorCode: 'run_stopped' },
    ]);
    const types = async ({ session }: Pick<ActivityHarness, 'session'>): Promise<string[]> =>
      (await session.log()).map(({ message }) => message.type);
    expect(await types(silent)).toEqual(await types(confirms));
    // It finds out with its next write, and the run has ended as the record says.
    await silent.store.runs.stop(silent.session.id, { mode: 'interrupt' });
  });

  it('a silent writer that is ended twice at the same moment has ended once', async () => {
    const silent = await speaking();
    const { session, store } = silent;
    await Promise.all([1, 2, 3].map(() => end(silent, { status: 'interrupted' })));
    expect(await session.messages('stream_end')).toHaveLength(1);
    expect(await store.sessions.rows(session.id, 1)).toHaveLength(3);
  });

  it('whose workflow is gone is kept as cut by a failure', async () => {
    const silent = await speaking();
    const { session, store } = silent;
    const error = { code: 'framework_run_lost', message: 'Lost.', retryable: true };
    await end(silent, { status: 'failed', error });
    expect(await store.sessions.read(session.id)).toMatchObject({ status: 'failed', error });
    expect(await store.sessions.rows(session.id, 1)).toMatchObject([
      { interrupted: 'failure' },
      { toolCallId: 'done', errorCode: 'run_failed' },
      { toolCallId: 'cut', errorCode: 'run_failed' },
    ]);
  });

  it.each([
    ['aborted', 'abort', 'run_stopped'],
    ['failed', 'failure', 'run_failed'],
  ] as const)(
    'that is %s keeps what its provider did; all else is cut, and other writers have no part in it',
    async (status, interrupted, errorCode) => {
      const search = (toolCallId: string): LanguageModelV4StreamPart => {
        const call = { type: 'tool-call', toolName: 'search', input: '{}' } as const;
        return { ...call, toolCallId, providerExecuted: true };
      };
      const found = { type: 'tool-result', toolName: 'search', result: { hits: 1 } } as const;
      const sought = [search('p'), { ...found, toolCallId: 'p' }, search('q')];
      const silent = await speaking(sought, true);
      const { session, store, streamManager } = silent;
      const from: number[] = [];
      // Pages are short, and another writer's chunks are between those of this one.
      const read: typeof streamManager.read = async (id, first) => {
        from.push(first);
        const page = await streamManager.read(id, first, 2);
        return page.flatMap((entry) => [entry, { ...entry, writer: 'other' }]);
      };
      const record = await store.sessions.read(session.id);
      if (record === undefined) throw new Error('there is a record');
      await forceEnd({ store, streamManager: { read } }, record, { status, now: 7 });
      expect(from[0]).toBeGreaterThan(0);
      const [row, ...results] = await store.sessions.rows(session.id, record.turnStartRow + 1);
      const kept = { toolCallId: 'p', kind: 'provider' };
      const cut = ['q', 'done', 'cut'].map((toolCallId) => ({ toolCallId, kind: 'server' }));
      const [unfinished, ...own] = cut;
      expect(row).toMatchObject({
        interrupted,
        parts: [kept, { type: 'tool-result' }, unfinished, { text: 'I will' }, ...own],
      });
      expect(results).toMatchObject(cut.map(({ toolCallId }) => ({ toolCallId, errorCode })));
    },
  );
});
