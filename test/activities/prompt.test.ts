import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { stepCountIs, streamText, type ModelMessage } from 'ai';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';
import { expectSame, ourTools, plain, theirTools } from './compare-prompts.js';

const { text, call, says, asks } = parts;

describe('what a model is asked is what streamText would ask', () => {
  it("the prompt equals streamText's with one message", () => expectSame([]));

  it("the prompt equals streamText's after tools: objects, text, null, errors, and several in one step", async () => {
    await expectSame([
      asks(text('Let me see.'), call('c1', 'echo', { value: 'a' })),
      asks(call('c2', 'text', {}), call('c3', 'nothing', {}), call('c4', 'echo', { value: 'b' })),
      asks(call('c5', 'boom', {})),
    ]);
  });

  it("the prompt equals streamText's after reasoning with a signature", async () => {
    const providerMetadata = { anthropic: { signature: 'sig' } };
    await expectSame([
      asks(
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

  it("the prompt equals streamText's after redacted reasoning", async () => {
    const redacted = { anthropic: { redactedData: 'xyz' } };
    const encrypted = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'abc' } };
    await expectSame([
      asks(
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

  it("the prompt equals streamText's after text and calls with the provider's metadata", async () => {
    await expectSame([
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
    ]);
  });

  it("the prompt equals streamText's after a step with several blocks of reasoning and text", async () => {
    const reasoning = (id: string, delta: string): LanguageModelV4StreamPart[] => [
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta },
      { type: 'reasoning-end', id, providerMetadata: { anthropic: { signature: id } } },
    ];
    await expectSame([
      asks(
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

  it("the prompt equals streamText's after streamed arguments and empty deltas", async () => {
    await expectSame([
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
    ]);
  });

  it("the prompt equals streamText's with files beside text, inline and by address", async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await expectSame(
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
    );
  });

  it("the prompt equals streamText's in the next turn, after a turn with tools", async () => {
    const first = asks(text('Let me see.'), call('c1', 'echo', { value: 'a' }));
    const second = says('There.');
    const theirs = fakeModel(sayInTurn(first, second, second));
    const user = (content: string): ModelMessage => ({
      role: 'user',
      content: [{ type: 'text', text: content }],
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
