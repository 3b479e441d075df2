import { describe, expect, it } from '@jest/globals';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { stepCountIs, streamText, tool, type ModelMessage, type ToolSet } from 'ai';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { toPrompt } from '../../activities/model/prompt.js';
import type { ToolRow, UserPart } from '../../protocol/rows.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

const inputs = {
  echo: z.object({ value: z.string().describe('what to say'), times: z.number().optional() }),
  boom: z.object({}),
  text: z.object({}),
  nothing: z.object({}),
};
const carriedOut: Record<keyof typeof inputs, (input: never) => unknown> = {
  echo: ({ value }: { value: string }) => ({ value, list: [1, null, { deep: true }] }),
  boom: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- of an Error, streamText tells the class too
    throw 'it went wrong';
  },
  text: () => 'plain text',
  nothing: () => null,
};
const names = Object.keys(inputs) as (keyof typeof inputs)[];
const ourTools = names.map((name) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    inputSchema: inputs[name] as z.ZodType,
    execute: carriedOut[name] as (input: unknown) => unknown,
  }),
);
const theirTools = Object.fromEntries(
  names.map((name) => [
    name,
    tool({
      description: `Does ${name}.`,
      inputSchema: inputs[name] as z.ZodType<Record<string, unknown>>,
      execute: carriedOut[name] as (input: Record<string, unknown>) => unknown,
    }),
  ]),
) as ToolSet;

/** What a model is asked, call by call, by `streamText` and by the runtime. */
async function ask(
  replies: LanguageModelV4StreamPart[][],
  content: UserPart[] = [{ type: 'text', text: 'hi' }],
  posted: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
) {
  const theirs = fakeModel(sayInTurn(...replies));
  const result = streamText({
    model: theirs,
    instructions: 'Be brief.',
    messages: posted,
    tools: theirTools,
    stopWhen: stepCountIs(10),
    onError: () => undefined,
  });
  await result.consumeStream();

  const ours = fakeModel(sayInTurn(...replies));
  const harness = createHarness(await openTestStores(), { model: ours, tools: ourTools });
  await harness.play(await harness.begin(...content));
  return { theirs: theirs.doStreamCalls, ours: ours.doStreamCalls };
}

// For a provider, absent and undefined are the same.
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function expectSame(...conversation: Parameters<typeof ask>): Promise<void> {
  const { theirs, ours } = await ask(...conversation);
  expect(ours).toHaveLength(theirs.length);
  for (const [n, call] of theirs.entries()) {
    expect(plain(ours[n]?.prompt)).toEqual(plain(call.prompt));
    expect(plain(ours[n]?.tools)).toEqual(plain(call.tools));
    expect(ours[n]?.toolChoice).toEqual(call.toolChoice);
  }
}

const { text, call, finish } = parts;
const asksFor = (...said: LanguageModelV4StreamPart[][]): LanguageModelV4StreamPart[] => [
  ...said.flat(),
  ...finish('tool-calls'),
];

describe('what a model is asked is what streamText would ask', () => {
  it('with one message', () => expectSame([]));

  it('after tools: objects, text, null, errors, and several in one step', async () => {
    await expectSame([
      asksFor(text('Let me see.'), call('c1', 'echo', { value: 'a' })),
      asksFor(
        call('c2', 'text', {}),
        call('c3', 'nothing', {}),
        call('c4', 'echo', { value: 'b' }),
      ),
      asksFor(call('c5', 'boom', {})),
    ]);
  });

  it('after reasoning with a signature', async () => {
    const providerMetadata = { anthropic: { signature: 'sig' } };
    await expectSame([
      asksFor(
        [
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: 'I think' },
          { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata },
          { type: 'reasoning-end', id: 'r' },
        ],
        text('Hm.'),
        call('c1', 'echo', { value: 'a' }),
      ),
    ]);
  });

  it('after reasoning that nobody may read', async () => {
    const redacted = { anthropic: { redactedData: 'xyz' } };
    const encrypted = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'abc' } };
    await expectSame([
      asksFor(
        [
          { type: 'reasoning-start', id: 'r1', providerMetadata: redacted },
          { type: 'reasoning-end', id: 'r1' },
          { type: 'reasoning-start', id: 'r2', providerMetadata: { openai: { itemId: 'rs_1' } } },
          { type: 'reasoning-end', id: 'r2', providerMetadata: encrypted },
        ],
        call('c1', 'echo', { value: 'a' }),
      ),
    ]);
  });

  it('after text and calls that the provider has marked', async () => {
    await expectSame([
      asksFor(
        [
          { type: 'text-start', id: 't1', providerMetadata: { openai: { itemId: 'msg_1' } } },
          { type: 'text-delta', id: 't1', delta: 'One' },
          { type: 'text-end', id: 't1' },
        ],
        text('Two', 't2', { openai: { itemId: 'msg_2' } }),
        call('c1', 'echo', { value: 'a' }, { google: { thoughtSignature: 'sig' } }),
        call('c2', 'boom', {}, { google: { thoughtSignature: 'gis' } }),
      ),
    ]);
  });

  it('after a step with several blocks of reasoning and text', async () => {
    const reasoning = (id: string, delta: string): LanguageModelV4StreamPart[] => [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta },
      { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: id } } },
    ];
    await expectSame([
      asksFor(
        reasoning('r1', 'first'),
        reasoning('r2', 'second'),
        text('a', 't1'),
        text('b', 't2'),
        reasoning('r3', 'third'),
        call('c1', 'echo', { value: 'a' }),
        text('c', 't3'),
      ),
    ]);
  });

  it('after streamed arguments and empty deltas', async () => {
    await expectSame([
      asksFor(
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
    ]);
  });

  it('with files beside text, inline and by address', async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await expectSame(
      [asksFor(call('c1', 'echo', { value: 'a' }))],
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
    );
  });

  it('after an approval that was denied', async () => {
    const denial = { approved: false, reason: 'too much' } as const;
    const reply = asksFor(text('May I?'), call('c1', 'ask', {}));
    const ask = { description: 'Asks.', inputSchema: z.object({}) };
    const theirs = fakeModel(sayInTurn([...text('pity'), ...finish()]));
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
      tools: { ask: tool({ ...ask, execute: () => 1 }) },
    }).consumeStream();

    const stores = await openTestStores();
    const ours = fakeModel(sayInTurn(reply, [...text('pity'), ...finish()]));
    const tools = [defineTool({ ...ask, name: 'ask', requireApproval: true, execute: () => 1 })];
    const harness = createHarness(stores, { model: ours, tools });
    const run = await harness.begin();
    await harness.play(run);
    const decision = { ...denial, at: 1 };
    await stores.store.settleCall({
      source: 'approval',
      sessionId: harness.session.id,
      agentType: 'tester',
      toolCallId: 'c1',
      runId: run.runId,
      decision,
      row: { role: 'tool', toolCallId: 'c1', toolName: 'ask', denied: true, decision },
      chunks: [],
      now: 1,
    });
    await harness.play(run, 2);
    expect(plain(ours.doStreamCalls[1]?.prompt)).toEqual(plain(theirs.doStreamCalls[0]?.prompt));
  });

  it('in the next turn, after a turn with tools', async () => {
    const first = asksFor(text('Let me see.'), call('c1', 'echo', { value: 'a' }));
    const second = [...text('There.'), ...finish()];
    const theirs = fakeModel(sayInTurn(first, second, second));
    const user = (said: string): ModelMessage => ({
      role: 'user',
      content: [{ type: 'text', text: said }],
    });
    const options = { model: theirs, instructions: 'Be brief.', tools: theirTools };
    const result = streamText({ ...options, messages: [user('hi')], stopWhen: stepCountIs(5) });
    await result.consumeStream();
    const messages = (await result.steps).flatMap(({ response }) => response.messages);
    await streamText({
      ...options,
      messages: [user('hi'), ...messages, user('more')],
    }).consumeStream();

    const ours = fakeModel(sayInTurn(first, second, second));
    const harness = createHarness(await openTestStores(), { model: ours, tools: ourTools });
    await harness.play(await harness.begin());
    await harness.play(await harness.begin({ type: 'text', text: 'more' }));
    expect(ours.doStreamCalls.map(({ prompt }) => plain(prompt))).toEqual(
      theirs.doStreamCalls.map(({ prompt }) => plain(prompt)),
    );
  });
});

describe('what a model is told differently on purpose', () => {
  it('calls keep the input as the model wrote it, also what the schema would strip', async () => {
    const { ours } = await ask([asksFor(call('c1', 'echo', { value: 'a', unknown: 1 }))]);
    expect(ours[1]?.prompt[2]).toMatchObject({ content: [{ input: { value: 'a', unknown: 1 } }] });
  });

  it('results tell what a person changed in the input, and who it was', () => {
    const said = (row: Partial<ToolRow>): unknown => {
      const base = { role: 'tool', toolCallId: 'c1', toolName: 'refund' } as const;
      const [message] = toPrompt('', [{ ...base, ...row }]);
      const part = message?.role === 'tool' ? message.content[0] : undefined;
      return part?.type === 'tool-result' ? part.output : undefined;
    };
    const decision = { approved: true, at: 1, by: 'ann', input: { amount: 5 } };
    const changed = 'Before it was approved, the input of this call was changed by';
    expect(said({ output: { refunded: 5 }, decision })).toEqual({
      type: 'text',
      value: `${changed} ann to: {"amount":5}\nResult: {"refunded":5}`,
    });
    expect(said({ output: 'ok', decision: { approved: true, at: 1, input: {} } })).toEqual({
      type: 'text',
      value: `${changed} a person to: {}\nResult: ok`,
    });
    expect(said({ error: 'no funds', decision })).toEqual({
      type: 'error-text',
      value: `${changed} ann to: {"amount":5}\nIt failed: no funds`,
    });
    const { input, ...unchanged } = decision;
    expect(said({ output: input, decision: unchanged })).toEqual({ type: 'json', value: input });
  });
});
