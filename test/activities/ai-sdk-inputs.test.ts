/* oxlint-disable typescript/no-deprecated -- Agents that exist have these names. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { dynamicTool, isStepCount, tool, ToolLoopAgent, type ModelMessage } from 'ai';
import { z } from 'zod';
import { toolContextOf, type PrepareStepOptions } from '../../agents/index.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { expectSameOnPages } from './same-on-pages.js';
import { serve, SHAPES, tools } from './serve-agent.js';

const { call, says, asks } = parts;

/** A call whose input is written in pieces. */
const written = (
  id: string,
  toolName: string,
  ...pieces: string[]
): LanguageModelV4StreamPart[] => [
  ...parts.args(id, toolName, ...pieces),
  { type: 'tool-input-end', id },
  ...call(id, toolName, pieces.join('')),
];

const REPLIES = [
  asks(
    written('c1', 'note', '{"te', 'xt":"a"}'),
    call('c2', 'note', { text: 'b' }),
    written('c3', 'note', '{"text":', '3}'),
  ),
  says('Done.'),
];

interface HookOptions {
  toolCallId: string;
  messages: unknown[];
  inputTextDelta?: string;
  input?: unknown;
}

const CALLED = { fake: { kept: 1, changed: 1, deep: { kept: 1, changed: 1 } } };
const CHANGED = { fake: { kept: undefined, changed: 2, deep: { changed: 2 } } };
const MERGED = { kept: 1, changed: 2, deep: { kept: 1, changed: 2 } };

/** An agent that notes what its tool hears, and the notes. */
function noting(hook: () => void = () => undefined) {
  const heard: unknown[] = [];
  const hear = (what: string) => (options: HookOptions) => {
    const { toolCallId, messages, inputTextDelta, input } = options;
    heard.push([what, toolCallId, messages.length, inputTextDelta ?? input]);
    hook();
  };
  const note = tool({
    inputSchema: z.object({ text: z.string() }),
    onInputStart: hear('start'),
    onInputDelta: hear('delta'),
    onInputAvailable: hear('available'),
    execute: ({ text: noted }) => {
      heard.push(['execute', noted]);
      return noted;
    },
  });
  const model = fakeModel(sayInTurn(...REPLIES));
  return { heard, model, agent: new ToolLoopAgent({ model, tools: { note } }) };
}

describe.each(SHAPES)('a tool with hooks for its input%s', (_suffix, shape) => {
  it('hears what the AI SDK would tell it, in the same order', async () => {
    const ours = noting();
    const harness = await serve(ours.agent, shape);
    await harness.play(await harness.begin());
    const theirs = noting();
    const stream = await theirs.agent.stream({ prompt: 'hi' });
    await stream.consumeStream();
    const hooks = (heard: unknown[]) => heard.filter((each) => (each as string[])[0] !== 'execute');
    expect(hooks(ours.heard)).toEqual(hooks(theirs.heard));
    expect(hooks(ours.heard)).toContainEqual(['available', 'c1', 1, { text: 'a' }]);
    expect(ours.heard.length).toBe(theirs.heard.length);
  });

  it('may throw: it is not called again, and the calls are carried out all the same', async () => {
    const { heard, agent } = noting(() => {
      throw new Error('no');
    });
    const harness = await serve(agent, shape);
    const outcome = await harness.play(await harness.begin());
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(heard).toEqual([
      ['start', 'c1', 1, undefined],
      ['execute', 'a'],
      ['execute', 'b'],
    ]);
  });
});

describe.each(SHAPES)('contexts of an agent%s', (_suffix, shape) => {
  it('reach its tools, rules and hooks, beside that of the runtime', async () => {
    const seen: unknown[] = [];
    const model = fakeModel(sayInTurn(asks(call('c1', 'pay', { amount: 1 }))));
    const pay = tool({
      inputSchema: z.object({ amount: z.number() }),
      contextSchema: z.object({ currency: z.string().toUpperCase() }),
      needsApproval: (_input, { context }) => {
        seen.push(context);
        return false;
      },
      execute: ({ amount }, options) => {
        const { idempotencyKey } = toolContextOf(options);
        seen.push(options.context, typeof idempotencyKey);
        return amount;
      },
    });
    const agent = new ToolLoopAgent({
      model,
      tools: { pay },
      toolsContext: { pay: { currency: 'eur' } },
      runtimeContext: { team: 'books' },
      prepareStep: ({ runtimeContext }) => {
        seen.push(runtimeContext);
        return {};
      },
      onStepEnd: ({ runtimeContext }) => void seen.push(runtimeContext),
      onEnd: ({ runtimeContext, text: reply }) => void seen.push([runtimeContext, reply]),
    });
    const harness = await serve(agent, shape);
    await harness.play(await harness.begin());
    const team = { team: 'books' };
    const currency = { currency: 'EUR' };
    expect(seen).toEqual([team, currency, team, currency, 'string', team, team, [team, 'done']]);
  });

  it('of AI SDK 6 reach all tools', async () => {
    const seen: unknown[] = [];
    const model = fakeModel(sayInTurn(asks(call('c1', 'look', {}))));
    const look = tool({
      inputSchema: z.object({}),
      execute: (_input, options) => {
        const { experimental_context: given } = options as { experimental_context?: unknown };
        seen.push(given, toolContextOf({ ...options }).sessionId.length > 0);
        return 1;
      },
    });
    const agent = { id: 'six', model, tools: { look }, experimental_context: { db: 'books' } };
    const harness = await serve(agent, shape);
    await harness.play(await harness.begin());
    expect(seen).toEqual([{ db: 'books' }, true]);
  });
});

describe.each(SHAPES)('the prepareCall of an agent%s', (_suffix, shape) => {
  const callOptionsSchema = z.object({ level: z.enum(['low', 'high']).default('low') });
  const ofLevel = (model: ReturnType<typeof fakeModel>) =>
    new ToolLoopAgent({
      model,
      callOptionsSchema,
      temperature: 1,
      instructions: 'Be brief.',
      prepareCall: ({ options, ...rest }) => ({
        ...rest,
        temperature: options.level === 'high' ? 0.2 : 0.9,
        instructions: `${rest.instructions as string} Level ${options.level}.`,
      }),
      prepareStep: ({ instructions, stepNumber }) => ({
        instructions: `${instructions as string} Step ${String(stepNumber)}.`,
      }),
    });

  it('gets call options by the schema, and the calls equal those of the AI SDK', async () => {
    const ours = fakeModel(sayInTurn());
    const harness = await serve(ofLevel(ours), {
      ...shape,
      callOptions: ({ messageMetadata }) => ({
        level: messageMetadata === undefined ? 'high' : 'low',
      }),
    });
    await harness.play(await harness.begin());
    const theirs = fakeModel(sayInTurn());
    const stream = await ofLevel(theirs).stream({ prompt: 'hi', options: { level: 'high' } });
    await stream.consumeStream();
    const asked = ({ doStreamCalls: [first] }: typeof ours) => [
      first?.temperature,
      first?.prompt[0],
    ];
    expect(asked(ours)).toEqual(asked(theirs));
    expect(asked(ours)).toEqual([
      0.2,
      { role: 'system', content: 'Be brief. Level high. Step 0.' },
    ]);
  });

  it.each([
    ['other provider options', { providerOptions: CALLED }],
    ["the agent's provider options", {}],
  ])(
    'changes what the call begins with, with %s, and prepareStep has the last word',
    async (_, more) => {
      const run = (model: ReturnType<typeof fakeModel>) => ({
        id: 'a',
        model,
        tools,
        instructions: 'Be brief.',
        providerOptions: { fake: { ofAgent: true } },
        prepareCall: ({ messages, ...rest }: { messages: ModelMessage[] }) => ({
          ...rest,
          messages: [{ role: 'user', content: `${String(messages.length)} so far` }, ...messages],
          instructions: 'Of the call.',
          ...more,
        }),
        prepareStep: ({ stepNumber }: { stepNumber: number }) =>
          stepNumber === 0 ? {} : { system: 'Of the step.', providerOptions: CHANGED },
      });
      const replies = [asks(call('c1', 'echo', { value: 'a' })), says('Done.')];
      const ours = fakeModel(sayInTurn(...replies));
      const harness = await serve(run(ours), shape);
      await harness.play(await harness.begin());
      const theirs = fakeModel(sayInTurn(...replies));
      const stream = await new ToolLoopAgent(run(theirs) as never).stream({
        messages: [{ role: 'user', content: 'hi' }],
      });
      await stream.consumeStream();
      const asked = ({ doStreamCalls }: typeof ours) =>
        doStreamCalls.map(({ prompt: [, ...messages], providerOptions }) => [
          messages,
          providerOptions?.['fake'],
        ]);
      expect(asked(ours)).toEqual(asked(theirs));
      expect(ours.doStreamCalls.map(({ prompt }) => prompt[0]?.content)).toEqual([
        'Of the call.',
        'Of the step.',
      ]);
      if ('providerOptions' in more) expect(asked(ours)[1]?.[1]).toEqual(MERGED);
    },
  );

  it('leaves prepareStep no summaries to keep for messages that it changed', async () => {
    const model = fakeModel(sayInTurn());
    const agent = {
      id: 'a',
      model,
      prepareCall: (given: { messages: ModelMessage[] }) => ({
        ...given,
        messages: [...given.messages],
      }),
      prepareStep: async ({ compaction }: PrepareStepOptions) => {
        await compaction.keep(() => ({ messages: 1, summary: 's' }), 1_000);
        return {};
      },
    };
    const harness = await serve(agent, shape);
    expect(await harness.play(await harness.begin())).toMatchObject({
      error: { code: 'context_hook_failed' },
    });
  });

  it.each([
    ['options that do not fit', { level: 'none' }, {}],
    ['a change that a run cannot have', { level: 'low' }, { stopWhen: isStepCount(1) }],
    ['a prompt, which would not be asked', { level: 'low' }, { prompt: 'something else' }],
  ])('fails the run typed for %s', async (_what, options, changes) => {
    const model = fakeModel(sayInTurn());
    const agent = {
      id: 'a',
      model,
      callOptionsSchema,
      prepareCall: (given: object) => ({ ...given, ...changes }),
    };
    const harness = await serve(agent, { ...shape, callOptions: options });
    expect(await harness.play(await harness.begin())).toMatchObject({
      error: { code: 'context_hook_failed' },
    });
    expect(model.doStreamCalls).toEqual([]);
  });
});

it('the options of providers that prepareStep returns are merged as in the AI SDK', async () => {
  const [ours, theirs] = [fakeModel(sayInTurn()), fakeModel(sayInTurn())];
  const of = (model: typeof ours) =>
    new ToolLoopAgent({
      model,
      providerOptions: CALLED,
      prepareStep: () => ({ providerOptions: CHANGED }),
    });
  const harness = await serve(of(ours));
  await harness.play(await harness.begin());
  const stream = await of(theirs).stream({ prompt: 'hi' });
  await stream.consumeStream();
  for (const { doStreamCalls } of [ours, theirs]) {
    expect(doStreamCalls[0]?.providerOptions?.['fake']).toEqual(MERGED);
  }
});

it('a call that pages carry out has the name of its tool on pages, also if its input does not fit', async () => {
  const locate = tool({ inputSchema: z.object({ q: z.string() }) });
  const any = dynamicTool({ inputSchema: z.unknown() });
  const replies = [
    asks(written('l1', 'locate', '{"q":', '3}')),
    asks(written('l2', 'locate', '{"q":', '"x"}'), call('a1', 'any', {})),
  ];
  const agent = { model: fakeModel(sayInTurn(...replies)), tools: { locate, any } };
  const harness = await serve(agent);
  await harness.play(await harness.begin());
  const { parts: shown } = await expectSameOnPages(harness);
  expect(shown.filter(({ type }) => type !== 'step-start')).toMatchObject([
    { type: 'tool-locate', state: 'output-error', input: { q: 3 } },
    { type: 'tool-locate', state: 'input-available', input: { q: 'x' } },
    { type: 'dynamic-tool', toolName: 'any', state: 'input-available' },
  ]);
});
