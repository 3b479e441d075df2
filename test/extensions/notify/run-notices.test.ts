import { createNotices } from '../../../extensions/notify/workflows.js';
import { endWorkflowIdOf, waitWorkflowIdOf } from '../../../protocol/ids.js';
import type { CallKind, CallRef, Next, RunInput } from '../../../protocol/run.js';
import { END_WORKFLOW_TYPE, SIGNALS, WAIT_WORKFLOW_TYPE } from '../../../protocol/temporal.js';

const RUN = { sessionId: 's.sub', runId: 's:1-a', agent: 'lab' };
const WAIT = { sessionId: 's', runId: RUN.runId, agent: 'lab' };
const [FIRST, SECOND] = [1, 2].map((nth) => waitWorkflowIdOf(RUN.runId, 1, nth));
const call = (toolCallId: string, kind: CallKind = 'approval'): CallRef => ({
  toolCallId,
  toolName: 't',
  kind,
});

/** Shows what a run asks; lists the commands to Temporal, in which `ended` workflows take no signals. */
function createRun(more: Partial<RunInput> = {}, isRefused = false) {
  const sent: unknown[][] = [];
  const ended = new Set<string>();
  const notify = { calls: ['approval' as const], ends: ['completed' as const, 'failed' as const] };
  const input: RunInput = { ...RUN, turn: 1, maxSteps: 9, searchAttributes: false, notify };
  const notices = createNotices(
    { ...input, ...more },
    {
      start: (...command) =>
        isRefused
          ? Promise.reject(new Error('It is refused.'))
          : Promise.resolve(void sent.push(command)),
      signal: (id, ...command) =>
        ended.has(id)
          ? Promise.reject(new Error('It has ended.'))
          : Promise.resolve(void sent.push([id, ...command])),
    },
  );
  const settled = (): Promise<void> => new Promise(setImmediate);
  return {
    sent,
    ended,
    show: async (next: Next, ...people: CallRef[]): Promise<void> => {
      notices.show({ next, working: [], people, asleep: [] });
      await settled();
    },
    end: async (next: Extract<Next, { do: 'done' }>): Promise<void> => {
      // Its wait for the commands works in a workflow only.
      await notices.end(next).catch(() => undefined);
      await settled();
    },
  };
}

const open = (machine: string[] = [], step = 1): Next => ({ do: 'open', step, machine });
const model = (step: number): Next => ({ do: 'model', step });
const over = (more: object): object => ({ at: expect.any(Number) as unknown, ...more });

it('a wait for people starts one notice workflow, which is told of further calls and of the end', async () => {
  const { sent, show } = createRun();
  await show(open(), call('c', 'client'));
  expect(sent).toEqual([]);
  await show(open(), call('a'), call('c', 'client'));
  await show(open(), call('a'), call('b'), call('c', 'client'));
  await show(open(), call('b'), call('c', 'client'), call('d', 'client'));
  expect(sent).toEqual([
    [WAIT_WORKFLOW_TYPE, FIRST, { ...WAIT, step: 1 }],
    [FIRST, SIGNALS.waitGrown],
  ]);
  await show(open(['a', 'x']));
  expect(sent.slice(2)).toEqual([[FIRST, SIGNALS.waitOver, over({ approved: ['a'] })]]);
  await show(open(['a', 'x']));
  expect(sent).toHaveLength(3);
});

it('a wait that begins again in the same step has a notice workflow of its own', async () => {
  const { sent, ended, show } = createRun();
  await show(open(), call('a'));
  await show(open());
  ended.add(FIRST ?? '');
  await show(open(), call('b'));
  expect(sent.map(([, id]) => id)).toEqual([FIRST, SIGNALS.waitOver, SECOND]);
});

it.each<[string, Next, object]>([
  ['the next step', model(2), { approved: [] }],
  ['a wait of the next step', { do: 'open', step: 2 }, { approved: [] }],
  ['a later step, which does not tell how it ended', model(3), {}],
  ['the end of a stopped run', { do: 'done', step: 1, status: 'aborted' }, { stopped: true }],
  ['the end of a completed run', { do: 'done', step: 1, status: 'completed' }, { approved: [] }],
])('a wait ends with %s', async (_, next, how) => {
  const { sent, show } = createRun();
  await show(open(), call('a'));
  await show(next, ...(next.do === 'open' ? [call('b')] : []));
  const [told = []] = sent.filter(([id]) => id === FIRST);
  expect(told).toEqual([FIRST, SIGNALS.waitOver, over(how)]);
  expect(sent).toHaveLength(next.do === 'open' ? 3 : 2);
});

it('the end of a run is told once to receivers that want it, and that of a sub-agent to none', async () => {
  const error = { code: 'refused', message: 'no', retryable: false };
  const failed = { do: 'done', step: 2, status: 'failed', error } as const;
  const { sent, show, end } = createRun();
  await show(open(), call('a'));
  await end(failed);
  const ref = { ...RUN, status: 'failed', code: 'refused' };
  expect(sent.slice(1)).toHaveLength(2);
  expect(sent).toContainEqual([FIRST, SIGNALS.waitOver, over({ stopped: true })]);
  expect(sent).toContainEqual([END_WORKFLOW_TYPE, endWorkflowIdOf(RUN.runId), ref]);
  const parent = { sessionId: 's', runId: 's:1-p', toolCallId: 'd', depth: 1 };
  const others = [
    [{}, 'aborted'],
    [{}, 'superseded'],
    [{ parent }, 'completed'],
    [{ notify: undefined }, 'completed'],
  ] as const;
  for (const [more, status] of others) {
    const other = createRun(more);
    await other.end({ do: 'done', step: 2, status });
    expect([status, other.sent]).toEqual([status, []]);
  }
});

it('a run goes on if its notices cannot be started', async () => {
  const { sent, show } = createRun({}, true);
  await show(open(), call('a'));
  await show(model(2));
  expect(sent).toEqual([[FIRST, SIGNALS.waitOver, over({ approved: [] })]]);
});

it('a run without receivers sends nothing', async () => {
  const { sent, show } = createRun({ notify: undefined });
  await show(open(), call('a'));
  await show(model(2));
  expect(sent).toEqual([]);
});
