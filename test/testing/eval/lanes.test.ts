import { z } from 'zod';
import { defineAgent, defineTool, type ScriptStep } from '../../../agents/index.js';
import { runLane } from '../../../testing/eval/run-lane.js';
import { createScriptedModel, createTestRuntime, type TestRun } from '../../../testing/index.js';

const tools = [
  defineTool({
    name: 'refund',
    description: 'Pays back.',
    inputSchema: z.object({ amount: z.number() }),
    requireApproval: true,
    execute: ({ amount }) => ({ paid: amount }),
  }),
  defineTool({
    name: 'locate',
    description: 'Asks the browser.',
    inputSchema: z.object({}),
    execute: 'client',
  }),
];
const refund = (id: string) => ({ tool: 'refund', id, args: { amount: 5 } });

const deskOf = (script: readonly ScriptStep[]) =>
  defineAgent({
    name: 'desk',
    systemPrompt: '',
    tools,
    llmConfig: { model: createScriptedModel(script) },
  });

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
