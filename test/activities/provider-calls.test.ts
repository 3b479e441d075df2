import { openai } from '@ai-sdk/openai';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { defineAgent } from '../../agents/index.js';
import { openHarness } from '../support/activity-harness.js';
import { parts, sayInTurn } from '../support/fake-model.js';
import { expectSameOnPages } from './same-on-pages.js';
import { toReported } from '../../activities/model/step-reply.js';

const { text, finish } = parts;
type Part = LanguageModelV4StreamPart;
const made: Extract<Part, { type: 'tool-call' }> = {
  type: 'tool-call',
  toolCallId: 'ws1',
  toolName: 'web_search',
  input: '{}',
  providerExecuted: true,
};
const result: Part = { type: 'tool-result', toolCallId: 'ws1', toolName: 'web_search', result: 1 };

describe('calls of a provider', () => {
  it('that ask for an approval are denied, and the conversation continues', async () => {
    const asked: Part = { type: 'tool-approval-request', approvalId: 'mcpr_1', toolCallId: 'm1' };
    const harness = await openHarness(
      sayInTurn([
        ...text('Wait.'),
        { ...made, toolCallId: 'm1', toolName: 'mcp.pay' },
        asked,
        { ...asked, toolCallId: 'unknown' },
        ...finish('tool-calls'),
      ]),
    );
    expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
    expect((await expectSameOnPages(harness)).parts).toMatchObject([
      { type: 'step-start' },
      { type: 'text' },
      {
        toolCallId: 'm1',
        state: 'output-error',
        errorText: expect.stringMatching(/^provider_approval_unsupported: /),
      },
      { type: 'step-start' },
    ]);
    await harness.play(await harness.begin());
    const sent = harness.model.doStreamCalls[1]?.prompt.find(({ role }) => role === 'assistant');
    expect(sent?.content).toMatchObject([
      { type: 'text' },
      { type: 'tool-call', toolCallId: 'm1' },
      { type: 'tool-result', toolCallId: 'm1', output: { type: 'execution-denied' } },
    ]);
  });

  it('that would ask for an approval are refused when they are defined', () => {
    const mcp = (requireApproval?: 'always' | 'never' | { never: { toolNames: string[] } }) =>
      defineAgent({
        name: 'pays',
        systemPrompt: '',
        llmConfig: { model: 'm' },
        tools: {
          mcp: openai.tools.mcp({
            serverLabel: 'a',
            serverUrl: 'https://a.example',
            requireApproval,
          }),
        },
      });
    const why = `requireApproval must be 'never'`;
    expect(() => mcp('always')).toThrow(why);
    expect(() => mcp({ never: { toolNames: ['read'] } })).toThrow(why);
    expect([mcp(), mcp('never')]).toHaveLength(2);
  });

  it('take arguments that no chunk can hold, which are not shown', async () => {
    const input = JSON.stringify({ query: 'é'.repeat(140_000) });
    const harness = await openHarness(
      sayInTurn([{ ...made, input }, result, ...text('Fine.'), ...finish()]),
    );
    expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
    expect(harness.model.doStreamCalls).toHaveLength(1);
    expect(await harness.session.messages('tool_start')).toMatchObject([{ arguments: {} }]);
    await expectSameOnPages(harness);
  });
});

it.each<[string, object, object]>([
  ['a long id', { type: 'response-metadata', id: 'x'.repeat(2_000) }, {}],
  [
    'long metadata',
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'x'.repeat(2_000) },
      providerMetadata: { p: { logprobs: 'x'.repeat(20_000) } },
    },
    {},
  ],
  ['no warnings', { type: 'stream-start' }, {}],
  ['warnings that are no list', { type: 'stream-start', warnings: 'none' }, {}],
  ['an id and a time of other types', { type: 'response-metadata', id: 7, timestamp: 'now' }, {}],
  [
    'no time',
    { type: 'response-metadata', id: 'r', timestamp: new Date(NaN) },
    { responseId: 'r' },
  ],
])(
  'of what a provider reports, only what is small and of its type is kept: %s',
  (_, part, kept) => {
    expect(toReported(part as Part)).toStrictEqual(kept);
  },
);
