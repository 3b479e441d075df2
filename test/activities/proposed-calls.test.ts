import { dynamicTool } from 'ai';
import { z } from 'zod';
import { openCall, type ProposingStep } from '../../activities/model/proposed-calls.js';
import { deferQuestions, deferredCallsOf } from '../../activities/model/deferred-questions.js';
import { createSubAgentTool, defineAgent, defineTool, fromAiSdkTool } from '../../agents/index.js';
import { openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { until } from '../support/until.js';

const { call, finish, asks } = parts;

describe('what a model asks for', () => {
  it('a call that waits for people is kept with what its tool says of itself, if pages can use it', async () => {
    const scope = { agentId: 's', agentType: 'clerk', step: 1, runId: 's:1-x' };
    const ask = async (extra: object): Promise<unknown> => {
      const inputSchema = z.object({ n: z.number().meta({ format: 'currency:EUR' }) });
      const base = { name: 'pay', title: 'Pay', description: 'Pays.', inputSchema };
      const tool = defineTool({ ...base, execute: () => 1, requireApproval: true, ...extra });
      const proposed = { toolCallId: 'c', toolName: 'pay', input: '{"n":1}' };
      return (await openCall(scope, [tool], proposed, 0)).call.about;
    };
    expect(await ask({})).toMatchObject({
      agent: 'clerk',
      title: 'Pay',
      description: 'Pays.',
      schema: { properties: { n: { type: 'number', format: 'currency:EUR' } }, required: ['n'] },
    });
    const result = z.object({ city: z.string() });
    const client = { execute: 'client', requireApproval: undefined, outputSchema: result };
    expect(await ask(client)).toMatchObject({ schema: { properties: { city: {} } } });
    const long = await ask({ description: `${'x'.repeat(999)}🙂` });
    expect(long).toMatchObject({ description: 'x'.repeat(999) });
    const huge = z.object({ n: z.number().describe('x'.repeat(20_000)) });
    expect(await ask({ inputSchema: huge })).toMatchObject({ title: 'Pay', schema: undefined });
    expect(await ask({ requireApproval: undefined })).toBeUndefined();
  });

  it('the calls of a model reach the run by name and kind, and impossible ones are settled', async () => {
    const make = (name: string, extra: object): ReturnType<typeof defineTool> =>
      fakeTool(name, () => 1, { inputSchema: z.object({ n: z.number().optional() }), ...extra });
    const tools = [
      make('server', { timeoutMs: 7 }),
      make('client', { execute: 'client' }),
      make('approval', { requireApproval: true }),
      make('rule', { requireApproval: ({ n }: { n?: number }) => n === 1 }),
      make('broken', {
        requireApproval: () => {
          throw new Error('no idea');
        },
      }),
      fromAiSdkTool('any', dynamicTool({ inputSchema: z.unknown(), execute: () => 1 })),
      make('strict', {
        inputSchema: z.object({}).refine(() => {
          throw new Error('schema bug');
        }),
      }),
    ];
    const script = sayInTurn(
      asks(
        call('c1', 'server', {}),
        call('c2', 'client', {}),
        call('c3', 'approval', {}),
        call('c4', 'rule', { n: 1 }),
        call('c5', 'rule', { n: 2 }),
        call('c6', 'unknown', {}),
        call('c7', 'server', { n: 'x' }),
        call('c8', 'server', '{"n":'),
        call('c9', 'broken', {}),
        call('c10', 'strict', {}),
        call('c11', 'any', 'null'),
        call('c12', 'any', '[]'),
      ),
    );
    const { session, begin, step } = await openHarness(script, { tools });
    const outcome = await step(await begin(), 1);
    expect(outcome).toMatchObject({ kind: 'calls' });
    const kinds = outcome.kind === 'calls' ? outcome.calls.map((c) => [c.toolCallId, c.kind]) : [];
    expect(kinds).toEqual([
      ['c1', 'server'],
      ['c2', 'client'],
      ['c3', 'approval'],
      ['c4', 'approval'],
      ['c5', 'server'],
      ['c9', 'approval'],
    ]);
    const errors = (await session.messages('tool_input_error')).map(({ toolCallId, error }) => [
      toolCallId,
      error.split(':')[0],
    ]);
    expect(errors).toEqual([
      ['c6', 'There is no tool named "unknown".'],
      ['c7', 'Invalid input for "server"'],
      ['c8', 'Invalid input for "server"'],
      ['c10', 'Invalid input for "strict"'],
      ['c11', 'Invalid input for "any"'],
      ['c12', 'Invalid input for "any"'],
    ]);
    // What a person sees is written with the row, never before.
    expect(await session.messages('tool_approval_request')).toHaveLength(3);
  });

  it('a call is decided without a question where the rule of its tool does so', async () => {
    const executed: unknown[] = [];
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ amount: z.number() }),
      execute: ({ amount }) => executed.push(amount),
      requireApproval: ({ amount }) =>
        amount > 100
          ? { approve: false, reason: 'too\ud800much' }
          : amount > 10
            ? true
            : { approve: true, reason: 'small' },
    });
    const script = sayInTurn(
      asks(call('low', 'pay', { amount: 1 }), call('high', 'pay', { amount: 1000 })),
    );
    const harness = await openHarness(script, { tools: [tool] });
    const { session, begin, step, stores } = harness;
    const run = await begin();
    const outcome = await step(run, 1);
    expect(outcome).toMatchObject({ calls: [{ toolCallId: 'low', kind: 'server' }] });
    expect(await harness.tool(run, 1, 'high')).toBe('settled');
    expect(await harness.tool(run, 1, 'low')).toBe('settled');
    expect(executed).toEqual([1]);
    const automatic = { isAutomatic: true, approvalId: `${run.runId}::low` };
    expect(await session.messages('tool_approval_request')).toMatchObject([
      { toolCallId: 'low', input: { amount: 1 }, ...automatic },
      { toolCallId: 'high', isAutomatic: true },
    ]);
    expect(await session.messages('tool_approval_response')).toMatchObject([
      { toolCallId: 'low', approved: true, reason: 'small', ...automatic },
      { toolCallId: 'high', approved: false, reason: 'too\ufffdmuch', isAutomatic: true },
    ]);
    expect(await session.messages('tool_start')).toMatchObject([
      { toolCallId: 'low', providerExecuted: true },
    ]);
    expect((await stores.store.calls.read(session.id, 'low'))?.row).toMatchObject({
      output: 1,
      decision: { approved: true, automatic: true, reason: 'small' },
    });
    expect((await stores.store.calls.read(session.id, 'high'))?.row).toMatchObject({
      denied: true,
      decision: { approved: false, automatic: true, reason: 'too\ufffdmuch' },
    });
  });

  it('a rule that hangs leaves its call to a person, and a stop does not wait for it', async () => {
    const requireApproval = jest.fn(() => new Promise<boolean>(() => undefined));
    const play = async (stallTimeoutMs: number) => {
      const script = sayInTurn(asks(call('c1', 'pay', {})));
      const tools = [fakeTool('pay', () => 1, { requireApproval })];
      return openHarness(script, { tools, more: { llmConfig: { stallTimeoutMs } } });
    };
    const late = await play(50);
    expect(await late.step(await late.begin(), 1)).toMatchObject({ calls: [{ kind: 'approval' }] });
    const stopped = await play(60_000);
    const running = stopped.step(await stopped.begin(), 1);
    await until('the rule is asked', () => requireApproval.mock.calls.length === 2);
    await stopped.session.stop();
    expect(await running).toMatchObject({ kind: 'ended', status: 'interrupted' });
  });

  it('a rule that an ending worker leaves behind is asked again by the next attempt', async () => {
    const tool = fakeTool('pay', () => 1, { requireApproval: () => new Promise(() => undefined) });
    const attempt = { signal: AbortSignal.abort() };
    const claimed = { attempt, agent: { llmConfig: {} } } as unknown as ProposingStep['claimed'];
    const scope: ProposingStep = {
      agentId: 's',
      agentType: 'clerk',
      step: 1,
      runId: 's:1-x',
      claimed,
    };
    const proposed = { toolCallId: 'c', toolName: 'pay', input: '{}' };
    await expect(openCall(scope, [tool], proposed, 0)).rejects.toThrow('the step was cut');
  });

  it('a call that its rule denies at once needs no approver', async () => {
    const scope = { agentId: 's', agentType: 'clerk', step: 1, runId: 's:1-x' };
    const approversOf = async (approve: boolean | undefined): Promise<unknown> => {
      const requireApproval = () => (approve === undefined ? true : { approve });
      const tool = fakeTool('pay', () => 1, { requireApproval, separateApprover: true });
      const proposed = { toolCallId: 'c', toolName: 'pay', input: '{}' };
      return (await openCall(scope, [tool], proposed, 0)).call.approvers;
    };
    expect(await approversOf(undefined)).toEqual({ separate: true });
    expect(await approversOf(false)).toBeUndefined();
  });

  it('a call carries the time that people have, and what follows when they do not answer', async () => {
    const timed = { deadlineMs: 2_000, onExpiry: { result: 'no answer' } };
    const asked = fakeTool('ask', 'client', timed);
    const script = sayInTurn(asks(call('c1', 'ask', {})));
    const { session, begin, step, stores } = await openHarness(script, { tools: [asked] });
    expect(await step(await begin(), 1)).toMatchObject({ calls: [{ deadlineMs: 2_000 }] });
    expect((await stores.store.calls.read(session.id, 'c1'))?.spec).toMatchObject(timed);
  });
});

describe('a sub-agent tool', () => {
  const helper = defineAgent({
    name: 'helper',
    systemPrompt: 'Help.',
    llmConfig: { model: fakeModel(sayInTurn(finish('stop'))) },
  });
  const tools = [
    createSubAgentTool({
      agent: helper,
      name: 'ask_helper',
      description: 'Ask.',
      inputSchema: z.object({ of: z.string().default('all') }),
    }),
  ];
  const proposed = { toolCallId: 'd1', toolName: 'ask_helper', input: '{}' };
  const scope = { agentId: 's1', agentType: 'lab', step: 1, runId: 's1:1-n' };

  it('a sub-agent tool creates a run with unpredictable ids and its first message', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => openCall(scope, tools, proposed, 1)));
    expect(one?.call).toMatchObject({
      kind: 'subagent',
      child: { agent: 'helper', message: '{"of":"all"}', maxSteps: 50 },
    });
    expect(one?.call.child?.sessionId).toMatch(/^s1\.1-[0-9a-f]{24}$/);
    expect(one?.call.child?.sessionId).not.toBe(two?.call.child?.sessionId);
  });

  it('a sub-agent tool is refused to an agent at the greatest depth', async () => {
    const ask = async (depth: number) =>
      (await openCall({ ...scope, depth }, tools, proposed, 1)).call.row;
    expect(await ask(5)).toMatchObject({ errorCode: 'subagent_limit' });
    expect(await ask(4)).toBeUndefined();
  });
});

describe('a question beside a call that waits for a webhook', () => {
  const shape = { description: 'Does it.', inputSchema: z.object({}) };
  const pay = defineTool({ ...shape, name: 'pay', requireApproval: true, execute: () => 1 });
  const hook = (requireApproval?: true) =>
    defineTool({ ...shape, name: 'hook', requireApproval, execute: 'webhook', send: () => 1 });

  it.each([
    ['is deferred to a step of its own', hook(), true],
    ['is asked at once if people are asked about both', hook(true), false],
  ])('%s', async (_what, wait, isDeferred) => {
    const tools = [pay, wait];
    const llmConfig = { model: fakeModel(() => []) };
    const agent = defineAgent({ name: 'clerk', systemPrompt: '', llmConfig, tools });
    const scope = { agentId: 's', agentType: 'clerk', step: 1, runId: 's:1-x' };
    const opened = await Promise.all(
      ['pay', 'hook'].map((toolName) =>
        openCall(scope, tools, { toolCallId: toolName, toolName, input: '{}' }, 0),
      ),
    );
    const asked = deferQuestions(agent, 's', opened).map(({ call: { ask } }) => ask !== undefined);
    expect(asked).toEqual([isDeferred, false]);
    expect(deferredCallsOf(agent, 's')('pay')).toBe(isDeferred);
  });
});
