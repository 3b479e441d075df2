import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { streamText, tool, type ToolSet } from 'ai';
import { z } from 'zod';
import { defineAgent, type AgentSettings, type StepFinishEvent } from '../../agents/index.js';
import { toMessageEvents } from '../../ai-sdk/parts/message-events.js';
import { openHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn, type Script } from '../support/fake-model.js';
import { until } from '../support/until.js';
import { plain, speakTwice } from './compare-prompts.js';
import { expectSameOnPages } from './same-on-pages.js';
import { SHAPES } from './serve-agent.js';

const { text, call, finish, says, asks } = parts;
type Part = LanguageModelV4StreamPart;

/** A call that the provider makes, streams and answers itself. */
function search(id: string, more: Partial<Extract<Part, { type: 'tool-result' }>> = {}): Part[] {
  const toolName = more.toolName ?? 'web_search';
  // What their schemas accept.
  const input = toolName === 'code' ? '{"type":"bash_code_execution","command":"ls"}' : '{}';
  const providerMetadata = { openai: { itemId: `item-${id}` } };
  return [
    { type: 'tool-input-start', id, toolName, providerExecuted: true },
    { type: 'tool-input-delta', id, delta: input },
    { type: 'tool-input-end', id },
    {
      type: 'tool-call',
      toolCallId: id,
      toolName,
      input,
      providerExecuted: true,
      providerMetadata,
    },
    {
      type: 'tool-result',
      toolCallId: id,
      toolName,
      result: { action: { type: 'search', query: 'rain' }, sources: ['https://a.example'] },
      providerMetadata,
      ...more,
    },
  ];
}

const source: Part = {
  type: 'source',
  sourceType: 'url',
  id: 's1',
  url: 'https://a.example',
  title: 'A',
};
const echo = tool({
  description: 'Echo.',
  inputSchema: z.object({ value: z.string() }),
  execute: (input) => input,
});
const tools = {
  web_search: openai.tools.webSearch({ searchContextSize: 'low' }),
  code: anthropic.tools.codeExecution_20250825(),
  echo,
} as unknown as ToolSet;

type Shape = (typeof SHAPES)[number][1];

function serve(script: Script, shape: Shape & Pick<AgentSettings, 'onStepFinish'>) {
  const { tools: own } = defineAgent({
    name: 'searches',
    systemPrompt: '',
    tools,
    llmConfig: { model: 'm' },
  });
  return openHarness(script, { tools: own, more: shape });
}

const conversations: [string, Part[][]][] = [
  [
    'a search with sources, between texts',
    [
      [...text('Let me see.'), ...search('ws1'), source, ...text('It rains.', 't2'), ...finish()],
      says('Bye.'),
    ],
  ],
  [
    'a search beside a call of ours',
    [asks(search('ws1'), call('c1', 'echo', { value: 'a' })), says('Both.')],
  ],
  [
    'a search that fails, and one whose result is a text',
    [
      [
        ...search('ws1', { result: { code: 'unavailable' }, isError: true }),
        ...search('ws2', { result: 'plain' }),
        ...text('Sorry.'),
        ...finish(),
      ],
    ],
  ],
  [
    'a result that comes in a later step',
    [
      asks(search('ce1', { toolName: 'code' }).slice(0, 4), call('c1', 'echo', { value: 'a' })),
      [...search('ce1', { toolName: 'code' }).slice(4), ...text('Ran.'), ...finish()],
    ],
  ],
  [
    'a result that comes in a later step, without a call of ours',
    [
      asks(search('ce1', { toolName: 'code' }).slice(0, 4)),
      [...search('ce1', { toolName: 'code' }).slice(4), ...text('Ran.'), ...finish()],
    ],
  ],
];

describe.each(SHAPES)('tools that the provider executes%s', (_suffix, shape) => {
  it.each(conversations)('are asked and sent back as by streamText: %s', async (_name, replies) => {
    const theirs = fakeModel(sayInTurn(...replies));
    await speakTwice({ model: theirs, tools });

    const harness = await serve(sayInTurn(...replies), shape);
    await harness.play(await harness.begin());
    await expectSameOnPages(harness);
    await harness.play(await harness.begin({ type: 'text', text: 'more' }));
    const toAsked = ({ prompt, tools: given }: (typeof theirs.doStreamCalls)[number]): unknown =>
      plain({ prompt, given });
    expect(harness.model.doStreamCalls.map(toAsked)).toEqual(theirs.doStreamCalls.map(toAsked));
  });

  it('differ from those of a provider that the application executes', () => {
    const { tools: made } = defineAgent({
      name: 'all',
      systemPrompt: '',
      llmConfig: { model: 'm' },
      tools: {
        search: openai.tools.webSearch(),
        files: openai.tools.fileSearch({ vectorStoreIds: ['vs_1'] }),
        bash: anthropic.tools.bash_20250124({ execute: () => 'done' }),
        editor: anthropic.tools.textEditor_20250728({}),
      },
    });
    expect(
      made.map(({ name, execute, provider }) => [
        name,
        typeof execute === 'function' ? 'here' : execute,
        provider?.id,
      ]),
    ).toEqual([
      ['search', 'provider', 'openai.web_search'],
      ['files', 'provider', 'openai.file_search'],
      ['bash', 'here', 'anthropic.bash_20250124'],
      ['editor', 'client', 'anthropic.text_editor_20250728'],
    ]);
  });

  it('are shown while they run, with their sources, and stored once', async () => {
    const harness = await serve(
      sayInTurn([
        ...search('ws1').slice(0, 4),
        ...search('ws1', { result: { partial: 1 }, preliminary: true }).slice(4),
        ...search('ws1').slice(4),
        source,
        ...text('It rains.'),
        ...finish(),
      ]),
      shape,
    );
    await harness.play(await harness.begin());
    const types = (await harness.session.log()).map(({ message }) => message.type);
    const tool = types.filter((type) => type.startsWith('tool_'));
    expect(tool).toEqual([
      'tool_arg_stream_start',
      'tool_arg_stream_delta',
      'tool_start',
      'tool_output_preliminary',
      'tool_end',
    ]);
    expect(types.indexOf('tool_end')).toBeLessThan(types.indexOf('text_delta'));
    expect((await expectSameOnPages(harness)).parts).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state: 'output-available', providerExecuted: true },
      { type: 'source-url', url: 'https://a.example' },
      { type: 'text', text: 'It rains.' },
      { type: 'step-start' },
    ]);
  });

  it('a call of ours to one of them is refused, and never executed here', async () => {
    const harness = await serve(sayInTurn(asks(call('c1', 'web_search', {}))), shape);
    await harness.play(await harness.begin());
    expect(await harness.session.messages('tool_input_error')).toMatchObject([
      { error: expect.stringContaining('by the provider') },
    ]);
  });

  it('a result without a call, too large, or no JSON harms nothing', async () => {
    const harness = await serve(
      sayInTurn([
        ...search('ws0').slice(4),
        ...search('ws1', { result: 'x'.repeat(2_000_000) }),
        ...search('ws2', { result: 1n as never }),
        ...search('ws3', { result: 'y'.repeat(400_000) }),
        ...text('Fine.'),
        ...finish(),
      ]),
      shape,
    );
    expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
    await expectSameOnPages(harness);
    expect(await harness.session.messages('tool_end')).toMatchObject([
      { toolCallId: 'ws1', error: 'The result is too large.' },
      { toolCallId: 'ws2', error: expect.stringContaining('cannot be kept') },
      { toolCallId: 'ws3', result: null },
    ]);
    await harness.play(await harness.begin());
    expect(JSON.stringify(harness.model.doStreamCalls[1]?.prompt)).toContain('y'.repeat(400_000));
  });

  it('have in steps what their provider says of a result, as in the AI SDK', async () => {
    const reply = [...search('ws1'), ...search('ws2', { isError: true }), ...says('It rains.')];
    const theirs = streamText({ model: fakeModel(sayInTurn(reply)), tools, prompt: 'hi' });
    const toMarks = (content: readonly { type: string; providerMetadata?: unknown }[]): unknown =>
      content.flatMap(({ type, providerMetadata }) =>
        /^tool-(result|error)$/.test(type) ? [[type, providerMetadata]] : [],
      );
    const heard: StepFinishEvent[] = [];
    const onStepFinish = (event: StepFinishEvent) => heard.push(event);
    const harness = await serve(sayInTurn(reply), { ...shape, onStepFinish });
    await harness.play(await harness.begin());
    expect(toMarks(heard[0]?.content ?? [])).toEqual(toMarks(await theirs.content));
  });

  it('a stop in the middle settles what the provider has not finished, and sends none of it back', async () => {
    const harness = await serve(async function* (n) {
      if (n > 0) return yield* says('done');
      yield* [...search('ws1'), ...search('ws2').slice(0, 4)];
      await new Promise(() => undefined);
    }, shape);
    const run = await harness.begin();
    const step = harness.step(run, 1);
    await until(
      'both are shown',
      async () => (await harness.session.messages('tool_start')).length === 2,
    );
    await harness.session.stop();
    expect(await step).toMatchObject({ status: 'interrupted' });
    const shown = await expectSameOnPages(harness);
    expect(shown.parts.filter(({ type }) => type === 'dynamic-tool')).toMatchObject([
      { toolCallId: 'ws1', state: 'output-available' },
      { toolCallId: 'ws2', state: 'output-error' },
    ]);
    await harness.play(await harness.begin());
    const sent = JSON.stringify(harness.model.doStreamCalls[1]?.prompt);
    expect(sent).not.toContain('ws1');
    expect(sent).not.toContain('providerExecuted');
  });
});

it("pages get the provider's metadata of a call, live, replayed and stored, unless it is long or the call is settled from the start", async () => {
  const mark = (of: string) => ({ acme: { of } });
  const asked = asks(
    call('c1', 'echo', { value: 'a' }, mark('a')),
    call('c2', 'echo', { value: 'b' }, mark('b'.repeat(20_000))),
    call('c3', 'echo', { value: 3 }, mark('c')),
    call('c4', 'echo', { value: 'd' }),
  );
  const harness = await serve(sayInTurn(asked), {});
  await harness.play(await harness.begin());
  const stored = await expectSameOnPages(harness);
  const shown = stored.parts.flatMap((part) =>
    part.type === 'dynamic-tool' ? [part.callProviderMetadata] : [],
  );
  expect(shown).toEqual([mark('a'), undefined, undefined, undefined]);
  const replayed = toMessageEvents(stored as never, 'common').flatMap((event) =>
    event.type === 'tool-input-available' ? [event.providerMetadata] : [],
  );
  expect(replayed).toEqual(shown);
});
