import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import * as aiSdk from 'ai';
import { tool } from 'ai';
import { z } from 'zod';
import * as ours from '../../../extensions/one-process/index.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';

// Compares a stream's parts with those of the AI SDK's own agent for the same replies.

const { text, call, finish, asks, says } = parts;
type Parts = readonly { type: string }[];

const asInput = (id: string, toolName: string, input: object): LanguageModelV4StreamPart[] => [
  { type: 'tool-input-start', id, toolName },
  { type: 'tool-input-delta', id, delta: JSON.stringify(input) },
  { type: 'tool-input-end', id },
  ...call(id, toolName, input),
];

const REPLIES = [
  [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-delta', id: 'r', delta: 'I look.' },
    { type: 'reasoning-end', id: 'r' },
    ...text('One moment.'),
    ...asInput('c1', 'look', { at: 'sky' }),
    ...finish('tool-calls'),
  ],
  asks(call('c2', 'fail', {})),
  [...call('c4', 'look', { at: 'sea' }), ...call('c5', 'look', { at: 'ice' }), ...finish()],
  asks(call('c6', 'listen', {})),
  asks(call('c3', 'look', { at: 5 })),
  [
    { type: 'source', sourceType: 'url', id: 's', url: 'https://sky.example' },
    { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'Ymx1ZQ==' } },
    ...text('Blue.'),
    ...finish(),
  ],
] as LanguageModelV4StreamPart[][];

const tools = {
  look: tool({
    inputSchema: z.object({ at: z.string() }),
    execute: async function* ({ at }) {
      yield `${at}: …`;
      yield `${at}: blue`;
    },
  }),
  fail: tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error('It is dark.');
    },
  }),
};

async function readAll(stream: AsyncIterable<{ type: string }>): Promise<Parts> {
  const read: { type: string }[] = [];
  for await (const part of stream) read.push(part);
  return read;
}

/** Normalizes parts: joins deltas of any length and drops block ids. */
function shapeOf(given: Parts): unknown[] {
  const shape: Record<string, unknown>[] = [];
  for (const part of given as (Record<string, unknown> & { type: string })[]) {
    const { type, toolName, input, output, preliminary, finishReason, invalid } = part;
    // Their number depends on their pace; here the last one is the result.
    if (preliminary === true && shape.at(-1)?.['preliminary'] === true) continue;
    const last = shape.at(-1);
    const isDelta = type.endsWith('-delta');
    const delta = isDelta ? String(part['text'] ?? part['delta']) : undefined;
    if (isDelta && last?.['type'] === type) {
      last['delta'] = String(last['delta']) + String(delta);
      continue;
    }
    const about = { toolName, input, output, preliminary, finishReason, invalid, delta };
    shape.push({ type, ...about, dynamic: part['dynamic'] ?? false });
  }
  return shape;
}

describe('the parts of a stream', () => {
  it('are those of the AI SDK', async () => {
    const streamOf = async ({ ToolLoopAgent }: typeof aiSdk | typeof ours): Promise<Parts> => {
      const agent = new ToolLoopAgent({ model: fakeModel(sayInTurn(...REPLIES)), tools });
      return readAll((await agent.stream({ prompt: 'What colour is it?' })).stream);
    };
    expect(shapeOf(await streamOf(ours))).toEqual(shapeOf(await streamOf(aiSdk)));
  });

  it('and the fields of its result are those of the AI SDK', async () => {
    const resultOf = async ({ ToolLoopAgent }: typeof aiSdk | typeof ours) => {
      const agent = new ToolLoopAgent({ model: fakeModel(sayInTurn(...REPLIES)), tools });
      const heard: string[] = [];
      const result = await agent.stream({
        prompt: 'What colour is it?',
        onStepEnd: ({ toolCalls }) => {
          heard.push(toolCalls.map(({ toolName }) => toolName).join());
        },
        onEnd: ({ steps }) => {
          heard.push(`${String(steps.length)} steps`);
        },
      });
      // The AI SDK's models send replies only to a reader.
      await readAll(result.stream);
      const [staticToolCalls, dynamicToolCalls, files] = [
        await result.staticToolCalls,
        await result.dynamicToolCalls,
        await result.files,
      ];
      const usage = await result.usage;
      return {
        heard,
        text: await result.text,
        // The content holds the model's output, then its tools' results.
        content: (await result.content).map((part) => [
          part.type,
          'toolCallId' in part ? part.toolCallId : '',
          'invalid' in part && part.invalid === true,
        ]),
        sources: (await result.sources).map(({ id }) => id),
        finishReason: await result.finishReason,
        calls: [staticToolCalls, dynamicToolCalls].map((each) =>
          each.map(({ toolCallId }) => toolCallId),
        ),
        files: files.map(({ mediaType, base64 }) => [mediaType, base64]),
        last: (await result.finalStep)?.stepNumber,
        tokens: usage.totalTokens,
      };
    };
    expect(await resultOf(ours)).toEqual(await resultOf(aiSdk));
  });

  it('and its promises wait for the callbacks of the call, as in the AI SDK', async () => {
    const heardBy = async ({ ToolLoopAgent }: typeof aiSdk | typeof ours): Promise<string[]> => {
      const agent = new ToolLoopAgent({ model: fakeModel(sayInTurn()) });
      const heard: string[] = [];
      const result = await agent.stream({
        prompt: 'What colour is it?',
        onStepEnd: async () => {
          heard.push('step begins');
          await new Promise((resolve) => setTimeout(resolve, 50));
          heard.push('step done');
        },
        onEnd: ({ stepNumber, model }) => {
          heard.push(`end after ${String(stepNumber)} of ${String(model?.modelId)}`);
        },
      });
      await result.consumeStream();
      await result.text;
      expect('request' in result).toBe(true);
      return [...heard, 'resolved'];
    };
    const expected = await heardBy(aiSdk);
    expect(expected).toHaveLength(4);
    expect(await heardBy(ours)).toEqual(expected);
  });

  it('and its output has the type of its schema', async () => {
    const output = aiSdk.Output.object({ schema: z.object({ colour: z.string() }) });
    const reply = asks(call('f1', '__finish__', { colour: 'blue' }));
    const agent = new ours.ToolLoopAgent({
      model: fakeModel(() => reply),
      output,
      runtimeContext: { place: 'roof' },
      prepareStep: ({ runtimeContext }) => ({ temperature: runtimeContext.place.length }),
    });
    const { output: found } = await agent.generate({ prompt: 'What colour is it?' });
    expect(found.colour.toUpperCase()).toBe('BLUE');
  });

  interface Way {
    approved: boolean;
    reason?: string;
    isLate?: boolean;
  }
  const answered = async ({ ToolLoopAgent }: typeof aiSdk | typeof ours, how: Way) => {
    const { isLate = false, ...decision } = how;
    const asking = ['sky', 'sea'].flatMap((at) => call(`c-${at}`, 'look', { at }));
    const replies = [asks(asking), says('Blue.')];
    const model = fakeModel(sayInTurn(...replies));
    const agent = new ToolLoopAgent({ model, tools, toolApproval: { look: 'user-approval' } });
    const messages: aiSdk.ModelMessage[] = [{ role: 'user', content: 'What colour is it?' }];
    const first = await agent.stream({ messages });
    const asked = isLate ? undefined : await readAll(first.stream);
    messages.push(...(await first.responseMessages));
    const content = (await first.content).flatMap((part) => {
      if (part.type !== 'tool-approval-request') return [];
      const isOfSky = part.toolCall.toolCallId === 'c-sky';
      const { approvalId } = part;
      const type = 'tool-approval-response' as const;
      return [{ type, approvalId, ...(isOfSky ? decision : { approved: true }) }];
    });
    messages.push({ role: 'tool', content });
    const second = await agent.stream({ messages });
    const read = shapeOf(await readAll(second.stream));
    // The order of the results of a step has no meaning.
    const given = (await second.responseMessages).map(({ role, content: parts }) => [
      role,
      ...(parts as { type: string; toolCallId?: string }[])
        .map(({ type, toolCallId = '' }) => `${type} ${toolCallId}`)
        .sort(),
    ]);
    return { asked: shapeOf(asked ?? (await readAll(first.stream))), read, given };
  };

  it('after an approval begin with the outcome of the approved call', async () => {
    const how = { approved: true };
    const expected = await answered(aiSdk, how);
    expect(await answered(ours, how)).toEqual(expected);
    // The first call's parts stay the same if read after the second call.
    expect(await answered(ours, { ...how, isLate: true })).toEqual(expected);
  });

  it('after a denial begin with the denied call', async () => {
    const how = { approved: false, reason: 'too far' };
    expect(await answered(ours, how)).toEqual(await answered(aiSdk, how));
  });

  it('after one of several answers are empty, and a result is given back once', async () => {
    const ask = { description: 'Asks.', inputSchema: z.object({}), outputSchema: z.string() };
    const askedBy = async ({ ToolLoopAgent }: typeof aiSdk | typeof ours, ids: string[]) => {
      const calls = ids.flatMap((id) => call(id, 'ask', {}));
      const replies = [asks(calls), says('Thanks.')];
      const model = fakeModel(sayInTurn(...replies));
      const agent = new ToolLoopAgent({ model, tools: { ask: tool(ask) } });
      const messages: aiSdk.ModelMessage[] = [{ role: 'user', content: 'Ask me.' }];
      const first = await agent.stream({ messages });
      await first.consumeStream();
      messages.push(...(await first.responseMessages));
      const answer = (toolCallId: string) => {
        const output = { type: 'text', value: 'yes' } as const;
        const part = { type: 'tool-result', toolCallId, toolName: 'ask', output } as const;
        messages.push({ role: 'tool', content: [part] });
        return agent.stream({ messages });
      };
      return { answer };
    };
    const rolesOf = async ({ responseMessages }: { responseMessages: PromiseLike<object[]> }) =>
      (await responseMessages).map((message) => (message as aiSdk.ModelMessage).role);

    const theirs = await (await askedBy(aiSdk, ['a'])).answer('a');
    const { answer } = await askedBy(ours, ['a', 'b']);
    const half = await answer('a');
    expect(await rolesOf(half)).toEqual([]);
    const whole = await answer('b');
    expect(shapeOf(await readAll(whole.stream)).at(-1)).toMatchObject({ type: 'finish' });
    await readAll(theirs.stream);
    expect(await rolesOf(whole)).toEqual(await rolesOf(theirs));
    expect((await readAll(half.stream)).map(({ type }) => type)).toEqual(['start', 'finish']);
  });

  it('end with the reason when the run is stopped in time', async () => {
    const model = fakeModel(async function* () {
      yield* text('Once', 't1').slice(0, -1);
      await new Promise(() => undefined);
    });
    const agent = new ours.ToolLoopAgent({ model });
    const stream = await agent.stream({ prompt: 'a', timeout: 200 });
    expect((await readAll(stream.stream)).at(-1)).toEqual({ type: 'abort' });
    await expect(stream.text).rejects.toMatchObject({ name: 'TimeoutError' });
    const limits = { timeout: { totalMs: 5, stepMs: 5 } };
    await expect(agent.generate({ prompt: 'a', ...limits })).rejects.toThrow(/stepMs/);
  });
});
