import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { streamText, tool } from 'ai';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';
import { expectSame, ourTools, plain, speakTwice, theirTools, ask } from './compare-prompts.js';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { toMessages } from '../../activities/model/prompt.js';
import type { ToolRow } from '../../protocol/rows.js';

const { text, call, says, asks } = parts;

const signed = { anthropic: { signature: 'sig' } };
const redacted = { anthropic: { redactedData: 'xyz' } };
const encrypted = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'abc' } };
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const reasoning = (id: string, delta: string): LanguageModelV4StreamPart[] => [
  { type: 'reasoning-start', id },
  { type: 'reasoning-delta', id, delta },
  { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: id } } },
];

describe('what a model is asked is what streamText would ask', () => {
  it.each<[string, ...Parameters<typeof expectSame>]>([
    ['with one message', []],
    [
      'after tools: objects, text, null, errors, and several in one step',
      [
        asks(text('Let me see.'), call('c1', 'echo', { value: 'a' })),
        asks(call('c2', 'text', {}), call('c3', 'nothing', {}), call('c4', 'echo', { value: 'b' })),
        asks(call('c5', 'boom', {})),
      ],
    ],
    [
      'after reasoning with a signature',
      [
        asks(
          [
            { type: 'reasoning-start', id: 'r' },
            { type: 'reasoning-delta', id: 'r', delta: 'I think' },
            { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signed },
            { type: 'reasoning-end', id: 'r' },
          ],
          text('Hm.'),
          call('c1', 'echo', { value: 'a' }),
        ),
      ],
    ],
    [
      'after redacted reasoning',
      [
        asks(
          [
            { type: 'reasoning-start', id: 'r1', providerMetadata: redacted },
            { type: 'reasoning-end', id: 'r1' },
            { type: 'reasoning-start', id: 'r2', providerMetadata: { openai: { itemId: 'rs_1' } } },
            { type: 'reasoning-end', id: 'r2', providerMetadata: encrypted },
          ],
          call('c1', 'echo', { value: 'a' }),
        ),
      ],
    ],
    [
      'after text and calls with metadata of their provider',
      [
        asks(
          [
            { type: 'text-start', id: 't1', providerMetadata: { openai: { itemId: 'msg_1' } } },
            { type: 'text-delta', id: 't1', delta: 'One' },
            { type: 'text-end', id: 't1' },
          ],
          text('Two', 't2', { openai: { itemId: 'msg_2' } }),
          call('c1', 'echo', { value: 'a' }, { google: { thoughtSignature: 'sig' } }),
          call('c2', 'boom', {}, { google: { thoughtSignature: 'gis' } }),
        ),
      ],
    ],
    [
      'after a step with several blocks of reasoning and text',
      [
        asks(
          reasoning('r1', 'first'),
          reasoning('r2', 'second'),
          text('a', 't1'),
          text('b', 't2'),
          reasoning('r3', 'third'),
          call('c1', 'echo', { value: 'a' }),
          text('c', 't3'),
        ),
      ],
    ],
    [
      'after streamed arguments and empty deltas',
      [
        asks(
          [
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: '' },
            { type: 'text-end', id: 't' },
            { type: 'tool-input-start', id: 'c1', toolName: 'echo' },
            { type: 'tool-input-delta', id: 'c1', delta: '{"value":' },
            { type: 'tool-input-delta', id: 'c1', delta: '' },
            { type: 'tool-input-delta', id: 'c1', delta: '"x"}' },
            { type: 'tool-input-end', id: 'c1' },
          ],
          call('c1', 'echo', '{"value":"x"}'),
        ),
      ],
    ],
    [
      'with files beside text, inline and by address',
      [asks(call('c1', 'echo', { value: 'a' }))],
      [
        { type: 'text', text: 'look' },
        { type: 'file', url: `data:image/png;base64,${png}`, mediaType: 'image/png' },
        {
          type: 'file',
          url: 'https://files.example/a.pdf',
          mediaType: 'application/pdf',
          filename: 'a.pdf',
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'file', data: png, mediaType: 'image/png' },
            {
              type: 'file',
              data: new URL('https://files.example/a.pdf'),
              mediaType: 'application/pdf',
              filename: 'a.pdf',
            },
          ],
        },
      ],
    ],
  ])("the prompt equals streamText's %s", async (_, ...conversation) => {
    await expectSame(...conversation);
  });

  it("the prompt equals streamText's in the next turn, after a turn with tools", async () => {
    const first = asks(text('Let me see.'), call('c1', 'echo', { value: 'a' }));
    const second = says('There.');
    const theirs = fakeModel(sayInTurn(first, second, second));
    await speakTwice({ model: theirs, tools: theirTools });
    const ours = fakeModel(sayInTurn(first, second, second));
    const harness = createHarness(await openTestStores(), { model: ours, tools: ourTools });
    await harness.play(await harness.begin());
    await harness.play(await harness.begin({ type: 'text', text: 'more' }));
    expect(ours.doStreamCalls.map(({ prompt }) => plain(prompt))).toEqual(
      theirs.doStreamCalls.map(({ prompt }) => plain(prompt)),
    );
  });

  it("the prompt equals streamText's after an approval that was denied", async () => {
    const denial = { approved: false, reason: 'too much' } as const;
    const reply = asks(text('May I?'), call('c1', 'ask', {}));
    const asking = { description: 'Asks.', inputSchema: z.object({}) };
    const theirs = fakeModel(sayInTurn(says('pity')));
    await streamText({
      model: theirs,
      instructions: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'May I?' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'ask', input: {} },
            { type: 'tool-approval-request', approvalId: 'ap', toolCallId: 'c1' },
          ],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: 'ap', ...denial }],
        },
      ],
      tools: { ask: tool({ ...asking, execute: () => 1 }) },
    }).consumeStream();

    const stores = await openTestStores();
    const ours = fakeModel(sayInTurn(reply, says('pity')));
    const tools = [defineTool({ ...asking, name: 'ask', requireApproval: true, execute: () => 1 })];
    const harness = createHarness(stores, { model: ours, tools });
    const run = await harness.begin();
    await harness.play(run);
    const decision = { ...denial, at: 1 };
    await stores.store.calls.settle({
      source: 'approval',
      sessionId: harness.session.id,
      agentType: 'tester',
      toolCallId: 'c1',
      runId: run.runId,
      decision,
      permitted: true,
      row: { role: 'tool', toolCallId: 'c1', toolName: 'ask', denied: true, decision },
      chunks: [],
      now: 1,
    });
    await harness.play(run, 2);
    expect(plain(ours.doStreamCalls[1]?.prompt)).toEqual(plain(theirs.doStreamCalls[0]?.prompt));
  });
});

describe('what a model gets differently on purpose', () => {
  it('calls keep the input as the model wrote it, also what the schema would strip', async () => {
    const { ours } = await ask([asks(call('c1', 'echo', { value: 'a', unknown: 1 }))]);
    expect(ours[1]?.prompt[2]).toMatchObject({ content: [{ input: { value: 'a', unknown: 1 } }] });
  });

  it('a reply that was cut gives its provider none of its marks back', () => {
    const call = { toolCallId: 'c1', toolName: 'refund' };
    const mark = { providerMetadata: { acme: { id: 'x' } } };
    const { messages } = toMessages([
      {
        role: 'assistant',
        messageId: 'm',
        runId: 'r',
        step: 1,
        interrupted: 'interrupt',
        parts: [{ type: 'tool-call', ...call, input: {}, kind: 'server', ...mark }],
      },
      { role: 'tool', ...call, error: 'stopped' },
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
    expect(JSON.stringify(messages)).not.toContain('acme');
  });

  it('results tell what a person changed in the input, and who it was', () => {
    const outputOf = (row: Partial<ToolRow>): unknown => {
      const base = { role: 'tool', toolCallId: 'c1', toolName: 'refund' } as const;
      const [message] = toMessages([{ ...base, ...row }]).messages;
      const part = message?.role === 'tool' ? message.content[0] : undefined;
      return part?.type === 'tool-result' ? part.output : undefined;
    };
    const decision = { approved: true, at: 1, by: 'ann', input: { amount: 5 } };
    const changed = 'Before it was approved, the input of this call was changed by';
    expect(outputOf({ output: { refunded: 5 }, decision })).toEqual({
      type: 'text',
      value: `${changed} ann to: {"amount":5}\nResult: {"refunded":5}`,
    });
    expect(outputOf({ output: 'ok', decision: { approved: true, at: 1, input: {} } })).toEqual({
      type: 'text',
      value: `${changed} a person to: {}\nResult: ok`,
    });
    expect(outputOf({ error: 'no funds', decision })).toEqual({
      type: 'error-text',
      value: `${changed} ann to: {"amount":5}\nIt failed: no funds`,
    });
    const { input, ...unchanged } = decision;
    expect(outputOf({ output: input, decision: unchanged })).toEqual({
      type: 'json',
      value: input,
    });
  });
});
