import { z } from 'zod';
import { createSubAgentTool, defineAgent } from '../../agents/index.js';
import {
  createTestRuntime,
  type TestRuntime,
  type TestRuntimeOptions,
} from '../../testing/index.js';
import { createTestClock } from '../../testing/test-clock.js';
import { fakeTool } from '../support/fake-tool.js';

const opened: TestRuntime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close();
});
async function open(options: TestRuntimeOptions): Promise<TestRuntime> {
  const runtime = await createTestRuntime(options);
  opened.push(runtime);
  return runtime;
}

const paid: number[] = [];
const refund = fakeTool(
  'refund',
  ({ amount }, { updateState }) => {
    paid.push(amount);
    updateState<{ total: number }>((draft) => {
      draft.total += amount;
    });
    return { paid: amount };
  },
  {
    inputSchema: z.object({ amount: z.number() }),
    requireApproval: true,
    deadlineMs: 24 * 60 * 60 * 1_000,
  },
);
const desk = defineAgent({
  name: 'desk',
  systemPrompt: 'Help.',
  tools: [refund],
  stateSchema: z.object({ total: z.number().default(0) }),
  llmConfig: { model: 'openai/gpt-5' },
});
const asksForRefund = [
  { calls: [{ tool: 'refund', args: { amount: 5 } }] },
  { say: 'You get your money back.' },
  { say: 'You are welcome.' },
];

describe('a runtime under test', () => {
  it('a scripted model and an approval drive an agent over several turns', async () => {
    const runtime = await open({ agents: [desk], models: { desk: asksForRefund } });
    const asked = await runtime.run('desk', 'My tea was cold.');
    asked.expectPending('refund', { amount: 5 });
    const done = await asked.approve('refund', { by: 'ann' });
    done.expectStatus('completed').expectText(/money back/);
    await done.expectCalls([{ tool: 'refund', approved: true, output: { paid: 5 } }]);
    await done.expectState({ total: 5 });
    (await done.send('Thanks.')).expectText('You are welcome.');
  });

  it('a changed input is what runs, and a denied call does not run', async () => {
    paid.length = 0;
    const runtime = await open({ agents: [desk], models: { desk: asksForRefund } });
    const first = await runtime.run('desk', 'Cold.');
    await (
      await first.approve('refund', { input: { amount: 3 } })
    ).expectCalls([
      { tool: 'refund', input: { amount: 5 }, output: (out: { paid: number }) => out.paid === 3 },
    ]);
    expect((await first.calls())[0]?.decision).toMatchObject({ input: { amount: 3 } });
    const second = await runtime.run('desk', 'Cold.');
    const denied = await second.deny('refund', { reason: 'no' });
    await denied.expectCalls([{ tool: 'refund', approved: false }]);
    await expect(denied.expectCalls([{ tool: 'refund', approved: true }])).rejects.toThrow(/no/);
    expect(paid).toEqual([3]);
  });

  it('time that is advanced lets a deadline pass', async () => {
    paid.length = 0;
    const runtime = await open({ agents: [desk], models: { desk: asksForRefund } });
    const asked = await runtime.run('desk', 'Cold.');
    await runtime.advance(23 * 60 * 60 * 1_000);
    (await asked.current()).expectPending('refund');
    await runtime.advance(2 * 60 * 60 * 1_000);
    const ended = await asked.next();
    ended.expectStatus('completed');
    await ended.expectCalls([{ tool: 'refund', approved: false }]);
    expect(paid).toEqual([]);
  });

  it('an assertion that does not hold says what was there', async () => {
    const runtime = await open({ agents: [desk], models: { desk: asksForRefund } });
    const asked = await runtime.run('desk', 'Cold.');
    expect(() => asked.expectStatus('completed')).toThrow(/suspended_client_tool/);
    expect(() => asked.expectPending('refund', { amount: 6 })).toThrow(/"amount":5/);
    expect(() => asked.expectText(/money/)).toThrow(/expected text/);
    await expect(asked.expectCalls([])).rejects.toThrow(/refund/);
    await expect(asked.expectState({ total: 1 })).rejects.toThrow(/total/);
    await expect(asked.approve('nothing')).rejects.toThrow(/one pending call "nothing"/);
  });

  it('of two calls of a tool one is named by its id', async () => {
    const [one, two] = ['c1', 'c2'].map((id) => ({ tool: 'refund', id, args: { amount: 5 } }));
    const script = [{ calls: [one, two] as never }, { say: 'Done.' }];
    const runtime = await open({ agents: [desk], models: { desk: script } });
    const asked = await runtime.run('desk', 'Cold.', { userId: 'ann', tenantId: 'acme' });
    await expect(asked.approve('refund')).rejects.toThrow(/one pending call "refund"/);
    const half = await asked.approve('c2');
    expect(half.pending.map(({ toolCallId }) => toolCallId)).toEqual(['c1']);
    const done = await half.deny('c1');
    expect((await done.send('Thanks.')).handle.runId).toContain(done.sessionId);
  });

  it('a model that is called beyond its script fails the run and says so', async () => {
    const runtime = await open({ agents: [desk], models: { desk: [{ say: 'Once.' }] } });
    const first = await runtime.run('desk', 'Hello.');
    const second = await first.expectStatus('completed').send('And again.');
    second.expectStatus('failed');
  });

  it('a script may be a function of what the model is given, and replaces sub-agents as well', async () => {
    const helper = defineAgent({
      name: 'helper',
      systemPrompt: 'Count.',
      llmConfig: { model: 'openai/gpt-5' },
    });
    const boss = defineAgent({
      name: 'boss',
      systemPrompt: 'Delegate.',
      tools: [
        createSubAgentTool({
          name: 'count',
          description: 'Counts.',
          inputSchema: z.object({ text: z.string() }),
          toMessage: ({ text }: { text: string }) => text,
          agent: helper,
        }),
      ],
      llmConfig: { model: 'openai/gpt-5' },
    });
    const runtime = await open({
      agents: [boss],
      models: {
        boss: [
          { calls: [{ tool: 'count', args: { text: 'abc' } }] },
          ({ prompt }) => ({ say: `I got: ${JSON.stringify(prompt.at(-1)).slice(0, 500)}` }),
        ],
        helper: [{ say: 'three' }],
      },
    });
    const done = await runtime.run('boss', 'How long is abc?');
    done.expectStatus('completed').expectText(/three/);
    await done.expectCalls(['count']);
    await expect(open({ agents: [boss], models: { bos: [] } })).rejects.toThrow(/"bos"/);
  });
});

it('a clock that is advanced calls in the order of the times', async () => {
  const { after, advance } = createTestClock();
  const called: string[] = [];
  const last = new Promise<void>((resolve) => {
    after(20_000, () => {
      called.push('late');
      resolve();
    });
  });
  after(10_000, () => called.push('early'));
  advance(30_000);
  await last;
  expect(called).toEqual(['early', 'late']);
});
