import { z } from 'zod';
import type { ScriptStep } from '../../../agents/index.js';
import { COMMON_METADATA_KEYS } from '../../../protocol/ids.js';
import type { EvalCase } from '../../../testing/eval/case.js';
import { compare } from '../../../testing/eval/compare.js';
import { FAIL_ON } from '../../../testing/eval/evaluate.js';
import { freeze } from '../../../testing/eval/freeze.js';
import { runLane } from '../../../testing/eval/run-lane.js';
import { createScriptedModel, createTestRuntime, type TestRun } from '../../../testing/index.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

const tools = [
  fakeTool('refund', ({ amount }) => ({ paid: amount }), {
    inputSchema: z.object({ amount: z.number() }),
    requireApproval: true,
  }),
  fakeTool('locate', 'client'),
];
const refund = (id: string) => ({ tool: 'refund', id, args: { amount: 5 } });

const deskOf = (script: readonly ScriptStep[]) =>
  fakeAgent('desk', createScriptedModel(script), { tools });

/** Records people's acts and replays them to the same agent. */
async function replay(script: readonly ScriptStep[], act: (asked: TestRun) => Promise<TestRun>) {
  const agents = [deskOf(script)];
  const runtime = await createTestRuntime({ agents });
  try {
    const { sessionId } = await act(await runtime.run('desk', 'My tea was cold.'));
    const recorded = await runtime.record(sessionId);
    return { recorded, lane: await runLane(recorded, { agents }) };
  } finally {
    await runtime.close();
  }
}

describe('an unchanged agent does what was recorded', () => {
  it('of equal calls each is decided as it was', async () => {
    const script = [{ calls: [refund('c1'), refund('c2')] }, { say: 'Once.' }];
    const { recorded, lane } = await replay(script, async (asked) => {
      const half = await asked.approve('c1');
      return half.deny('c2', { reason: 'twice' });
    });
    expect(recorded.turns[0]?.calls).toMatchObject([
      { decision: { approved: true }, result: { output: { paid: 5 } } },
      { decision: { approved: false, reason: 'twice' }, result: { denied: true } },
    ]);
    expect(lane).toMatchObject({ drift: [], run: { status: 'completed', turns: recorded.turns } });
  });

  it('questions that were left behind by another message are left again', async () => {
    const script = [
      { calls: [{ tool: 'locate', id: 'c1' }, { tool: 'locate', id: 'c2' }, refund('c3')] },
      { say: 'As you like.' },
    ];
    const { recorded, lane } = await replay(script, async (asked) => {
      const half = await asked.answer('c2', { result: { city: 'Rome' } });
      return half.send('Never mind.');
    });
    expect(recorded.turns.map(({ calls, text }) => [calls.length, text])).toEqual([
      [3, ''],
      [0, 'As you like.'],
    ]);
    expect(lane).toMatchObject({ drift: [], run: { status: 'completed', turns: recorded.turns } });
  });

  it('a conversation that was stopped at a question is stopped there', async () => {
    const { recorded, lane } = await replay([{ calls: [refund('c1')] }], (asked) => asked.stop());
    expect(recorded.status).toBe('interrupted');
    expect(lane).toMatchObject({
      drift: [],
      run: { status: 'interrupted', turns: recorded.turns },
    });
  });

  it('a conversation that waits for people waits there', async () => {
    const { recorded, lane } = await replay([{ calls: [refund('c1')] }], (asked) =>
      Promise.resolve(asked),
    );
    expect(lane).toMatchObject({ drift: [], run: { status: 'waiting', turns: recorded.turns } });
  });
});

const user = [{ parts: [{ type: 'text' as const, text: 'hi' }] }];
const calls = [{ tool: 'refund', input: { amount: 5, to: 'ann' } }];
const turn = { user, steps: 2, calls, text: 'Paid.', output: { paid: 5 } };
const about = { helixCase: 1, name: 'a', agent: 'desk', recordedAt: '', status: 'completed' };
const CASE: EvalCase = { ...about, helixCase: 1, turns: [turn] };

it.each<[string, object, object, string[]]>([
  [
    'nothing but the order of fields',
    {},
    { calls: [{ tool: 'refund', input: { to: 'ann', amount: 5 } }] },
    [],
  ],
  ['another end', { status: 'failed' }, {}, ['status']],
  ['another step', {}, { steps: 3 }, ['steps']],
  ['another call', {}, { calls: [] }, ['tools']],
  ['another input', {}, { calls: [{ tool: 'refund', input: { amount: 6 } }] }, ['arguments']],
  ['another result and text', {}, { output: { paid: 6 }, text: 'No.' }, ['output', 'text']],
])('a comparison with the recording names %s alone', (_, end, work, kinds) => {
  const run = { ...CASE, ...end, turns: [{ ...turn, ...work }] };
  expect(compare(CASE, { run, drift: [], ms: 1 }).map((each) => each.in)).toEqual(kinds);
});

it('a case fails by what agents must not change', () => {
  expect(FAIL_ON).toEqual(['drift', 'status', 'tools']);
});

it('a frozen conversation has the usage of all its runs, and what pages do not show', async () => {
  const used = { usage: { inputTokens: 1, outputTokens: 2, costMicroUsd: 3 } };
  const parts = [{ type: 'text', text: 'hi' }];
  const metadata = { [COMMON_METADATA_KEYS.HIDDEN]: true };
  const rows = [{ role: 'user', id: 'u1', parts, metadata, hidden: true }];
  const view = { rows, openCalls: [], record: { agent: 'desk', status: 'completed' } };
  const sources = {
    executor: { listRuns: () => Promise.resolve([used, used, {}]) },
    store: { sessions: { view: () => Promise.resolve(view) } },
  };
  const { usage, turns } = await freeze(sources as never, 's1', 'a');
  expect(usage).toEqual({ inputTokens: 2, outputTokens: 4, costMicroUsd: 6 });
  expect(turns[0]?.user).toMatchObject([{ parts, hidden: true }]);
});
