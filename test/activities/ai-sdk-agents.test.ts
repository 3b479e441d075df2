import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { openai } from '@ai-sdk/openai';
import { dynamicTool, hasToolCall, isStepCount, stepCountIs, tool, ToolLoopAgent } from 'ai';
import { ToolLoopAgent as ToolLoopAgentOfSix, stepCountIs as stepCountIsOfSix } from 'ai-v6';
import { z } from 'zod';
import { createSubAgentTool, fromAgent, fromAiSdkTool } from '../../agents/index.js';
import { fakeTool } from '../support/fake-tool.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { plain } from './compare-prompts.js';
import { REPLIES, serve, SHAPES, tools } from './serve-agent.js';
import { mcpServers } from '../../extensions/mcp/index.js';
import { fakeAgent } from '../support/fake-agent.js';

const { call, asks } = parts;
const HELPER = fakeAgent('theirs', 'm', { description: 'Helps.' });

/** What a provider can tell apart. */
function toAsked({ prompt, tools: given, toolChoice, ...rest }: LanguageModelV4CallOptions) {
  const { temperature, topP, topK, seed, stopSequences, maxOutputTokens, presencePenalty } = rest;
  const { providerOptions, headers } = rest;
  const { helix: _helix, ...others } = providerOptions ?? {};
  return plain({
    prompt,
    given,
    toolChoice,
    temperature,
    topP,
    topK,
    seed,
    stopSequences,
    maxOutputTokens,
    presencePenalty,
    providerOptions: others,
    key: headers?.['x-key'],
  });
}

const agents: [
  string,
  (model: ReturnType<typeof fakeModel>) => ToolLoopAgent<never, typeof tools>,
][] = [
  [
    'instructions with a cache point, sampling, headers and options of the provider',
    (model) =>
      new ToolLoopAgent({
        model,
        tools,
        instructions: {
          role: 'system',
          content: 'Be brief.',
          providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
        temperature: 0.3,
        topP: 0.9,
        topK: 40,
        seed: 7,
        maxOutputTokens: 500,
        presencePenalty: 0.1,
        stopSequences: ['END'],
        headers: { 'x-key': 'value' },
        providerOptions: { openai: { store: false } },
      }),
  ],
  ['stopWhen by number', (model) => new ToolLoopAgent({ model, tools, stopWhen: isStepCount(2) })],
  [
    'stopWhen by a tool, one of several',
    (model) =>
      new ToolLoopAgent({ model, tools, stopWhen: [hasToolCall('other'), stepCountIs(9)] }),
  ],
  [
    'stopWhen by results and tokens',
    (model) =>
      new ToolLoopAgent({
        model,
        tools,
        stopWhen: ({ steps }) =>
          steps.some(({ toolResults }) => toolResults.length === 2) &&
          steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0) === 10,
      }),
  ],
  [
    'active tools and a choice',
    (model) =>
      new ToolLoopAgent({ model, tools, activeTools: ['echo', 'other'], toolChoice: 'required' }),
  ],
  [
    'prepareStep that changes everything by the steps so far',
    (model) =>
      new ToolLoopAgent({
        model,
        tools,
        instructions: 'Be brief.',
        temperature: 1,
        prepareStep: ({ stepNumber, steps, messages, initialMessages, responseMessages }) =>
          stepNumber === 0
            ? { toolChoice: { type: 'tool', toolName: 'echo' }, activeTools: ['echo'] }
            : {
                instructions: `Step ${String(stepNumber)} after ${String(steps.at(-1)?.toolCalls.length)} calls.`,
                temperature: 0,
                providerOptions: {
                  fake: {
                    counts: [messages, initialMessages, responseMessages].map(
                      ({ length }) => length,
                    ),
                  },
                },
                // There, what it selects once is also what later steps begin with.
                ...(stepNumber === 3 && { messages: messages.slice(0, 3) }),
              },
      }),
  ],
];

describe.each(SHAPES)('agents of the AI SDK%s', (_suffix, shape) => {
  it.each(agents)('asks the model what ToolLoopAgent asks: %s', async (_name, make) => {
    const theirs = fakeModel(sayInTurn(...REPLIES));
    const result = await make(theirs).stream({ prompt: 'hi' });
    await result.consumeStream();
    const ours = fakeModel(sayInTurn(...REPLIES));
    const harness = await serve(make(ours), shape);
    await harness.play(await harness.begin());
    expect(theirs.doStreamCalls.length).toBeGreaterThan(1);
    expect(ours.doStreamCalls.map(toAsked)).toEqual(theirs.doStreamCalls.map(toAsked));
  });

  it('an agent of AI SDK 6, and settings without an agent, are taken as well', async () => {
    for (const make of [
      (model: unknown) =>
        new ToolLoopAgentOfSix({
          id: 'six',
          model: model as never,
          instructions: 'Six.',
          tools: tools as never,
          stopWhen: stepCountIsOfSix(1) as never,
        }),
      (model: unknown) => ({
        id: 'six',
        model,
        instructions: 'Six.',
        tools,
        stopWhen: isStepCount(1),
      }),
    ]) {
      const model = fakeModel(sayInTurn(...REPLIES));
      const harness = await serve(make(model), shape);
      expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
      expect(model.doStreamCalls).toHaveLength(1);
      expect(model.doStreamCalls[0]?.prompt[0]).toMatchObject({ content: 'Six.' });
    }
  });

  it('the model of a step can be another one, whose name is counted', async () => {
    const first = fakeModel(sayInTurn(asks(call('c1', 'echo', { value: 'a' }))));
    const second = fakeModel(sayInTurn());
    const harness = await serve(
      new ToolLoopAgent({
        model: first,
        tools,
        prepareStep: ({ stepNumber }) => (stepNumber === 1 ? { model: second } : {}),
      }),
      shape,
    );
    await harness.play(await harness.begin());
    expect([first.doStreamCalls.length, second.doStreamCalls.length]).toEqual([1, 1]);
  });

  it('a tool that its list names otherwise is chosen by that name', async () => {
    const name = 'admin.list';
    const listed = { [name]: dynamicTool({ inputSchema: z.object({}), execute: () => 1 }) };
    const toolChoice = { type: 'tool', toolName: name } as const;
    const model = fakeModel(() => parts.says('Done.'));
    const agent = { model, tools: { ...tools, ...listed }, activeTools: [name], toolChoice };
    const { begin, step } = await serve(agent);
    await step(await begin(), 1);
    expect(model.doStreamCalls[0]).toMatchObject({
      // As of `streamText`, which sends no description in place of one.
      tools: [{ name: 'admin_list', description: undefined }],
      toolChoice: { type: 'tool', toolName: 'admin_list' },
    });
    expect(model.doStreamCalls[0]?.tools).toHaveLength(1);
  });

  it('a description that replaces one, or none, is what the model reads', async () => {
    const model = fakeModel(() => parts.says('Done.'));
    const bare = tool({ inputSchema: z.object({}), execute: () => 1 });
    const replaced = { description: 'Replaced.' };
    const list = [
      { ...fromAiSdkTool('a', { ...bare, description: 'Own.' }), ...replaced },
      { ...fromAiSdkTool('b', bare), ...replaced },
      fromAiSdkTool('c', { ...bare, description: 'Own.' }),
      fromAiSdkTool('d', bare),
      fakeTool('e', () => 1, { description: 'e' }),
    ];
    const { begin, step } = await serve({ model, tools: list });
    await step(await begin(), 1);
    expect(model.doStreamCalls[0]?.tools).toMatchObject(
      ['Replaced.', 'Replaced.', 'Own.', undefined, 'e'].map((description) => ({ description })),
    );
  });

  it('a tool that is not active in a step is unknown in it', async () => {
    const model = fakeModel(sayInTurn(asks(call('c1', 'other', {}))));
    const harness = await serve(new ToolLoopAgent({ model, tools, activeTools: ['echo'] }), shape);
    await harness.play(await harness.begin());
    expect(await harness.session.messages('tool_input_error')).toMatchObject([
      { toolName: 'other', error: expect.stringContaining('no tool named') },
    ]);
  });

  it('values that a tool yields are shown before its result', async () => {
    const model = fakeModel(sayInTurn(asks(call('c1', 'count', {}))));
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield { seen: 1 };
        yield { seen: 2 };
      },
    });
    const harness = await serve(new ToolLoopAgent({ model, tools: { count } }), shape);
    await harness.play(await harness.begin());
    const [shown] = await harness.session.messages('tool_output_preliminary');
    expect(shown).toMatchObject({ toolCallId: 'c1', result: { seen: 1 } });
    expect(await harness.session.messages('tool_end')).toMatchObject([{ result: { seen: 2 } }]);
  });

  it('toolApproval asks, approves and denies', async () => {
    const model = fakeModel(
      sayInTurn(
        asks(
          call('c1', 'echo', { value: 'ask' }),
          call('c2', 'echo', { value: 'no' }),
          call('c3', 'other', {}),
        ),
      ),
    );
    const harness = await serve(
      new ToolLoopAgent({
        model,
        tools,
        toolApproval: {
          echo: ({ value }) =>
            value === 'ask' ? 'user-approval' : { type: 'denied', reason: 'never' },
          other: 'approved',
        },
      }),
      shape,
    );
    const outcome = await harness.play(await harness.begin());
    const [asked] = outcome.kind === 'calls' ? outcome.calls : [];
    expect(asked).toMatchObject({ toolCallId: 'c1', kind: 'approval' });
    expect(await harness.session.messages('tool_approval_response')).toMatchObject([
      { toolCallId: 'c2', approved: false, reason: 'never' },
      { toolCallId: 'c3', approved: true },
    ]);
  });

  it('toolApproval counts for tools that replace those of the agent, too', async () => {
    const { echo } = tools;
    for (const own of [{ echo }, [fromAiSdkTool('echo', echo, { idempotent: true })]]) {
      const model = fakeModel(sayInTurn(asks(call('c1', 'echo', { value: 'a' }))));
      const agent = new ToolLoopAgent({ model, tools, toolApproval: { echo: 'user-approval' } });
      const harness = await serve(agent, { tools: own, ...shape });
      expect(await harness.play(await harness.begin())).toMatchObject({
        calls: [{ toolCallId: 'c1', kind: 'approval' }],
      });
    }
  });
});

describe('agents of the AI SDK as definitions', () => {
  it('without stopWhen a run takes twenty steps', () => {
    expect(fromAgent(new ToolLoopAgent({ id: 'a', model: 'm' }))).toMatchObject({
      name: 'a',
      maxSteps: 20,
    });
  });

  it.each([
    [{ model: 'm' }, 'it has no id'],
    [{ id: 'a' }, 'its settings cannot be read'],
    [{ id: 'a', model: 'm', output: {} }, 'Output.object({ schema })'],
    [{ id: 'a', model: 'm', prepareCall: {} }, 'prepareCall must be a function'],
    [{ id: 'a', model: 'm', callOptionsSchema: z.object({}) }, '{ callOptions }'],
    [{ id: 'a', model: 'm', onToolExecutionStart: () => undefined }, 'onToolExecutionStart'],
    [{ id: 'a', model: 'm', stopWhen: 3 }, 'stopWhen must be'],
    [{ id: 'a', model: 'm', toolApproval: { none: 'approved' } }, 'none'],
  ])('settings that cannot be kept are refused when the agent is defined: %j', (settings, why) => {
    expect(() => fromAgent(settings)).toThrow(why);
  });

  it.each([
    ['client', 'theirs', tool({ inputSchema: z.object({}) })],
    ['provider', 'theirs', openai.tools.webSearch({})],
    ['agent', 'subagent__theirs', createSubAgentTool({ agent: HELPER, inputSchema: z.object({}) })],
  ])('toolApproval that nothing would ask is refused: a tool of the %s', (_kind, name, theirs) => {
    const base = { id: 'a', model: 'm', tools: { ...tools, [name]: theirs } };
    const why = `tool "${name}": toolApproval cannot rule on it`;
    for (const status of ['user-approval', 'denied']) {
      expect(() => fromAgent({ ...base, toolApproval: { [name]: status } })).toThrow(why);
    }
    expect(() => fromAgent({ ...base, toolApproval: () => 'denied' })).toThrow(why);
    const named = { ...base, toolApproval: { echo: 'denied', [name]: undefined } };
    expect(fromAgent(named).tools).toHaveLength(4);
  });

  it('toolApproval as a function is refused beside toolSources', () => {
    const toolSources = [mcpServers({ files: { url: 'https://mcp.example' } })];
    const base = { id: 'a', model: 'm', tools };
    const make = (toolApproval: unknown) => fromAgent({ ...base, toolApproval }, { toolSources });
    expect(() => make(() => 'denied')).toThrow('does not rule on the tools of toolSources');
    expect(make({ echo: 'denied' }).toolSources).toEqual(toolSources);
  });
});
