import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { stepCountIs, streamText, tool } from 'ai';
import { isOlderModel } from '../../agents/model.js';
import { createScriptedModel, resolveModel } from '../../agents/index.js';
import { echo } from '../../examples/lab/tools.js';
import { fromScript, fromUser, readParts, readText, select, toDeltas } from './streams.js';

function toStream<T>(parts: readonly T[]): ReadableStream<T> {
  return new ReadableStream<T>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

const text = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'old' },
  { type: 'text-end', id: 't' },
] as const;
const rest = {
  provider: 'old',
  modelId: 'old',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('unused')),
};

describe('resolveModel', () => {
  it('resolveModel accepts models and factories of models', async () => {
    const model = createScriptedModel();
    for (const given of [model, () => model]) {
      expect(await readText(resolveModel(given), fromScript({ say: 'hi' }))).toBe('hi');
    }
  });

  it('resolveModel lifts models of version 2 to version 4', async () => {
    const model: LanguageModelV2 = {
      ...rest,
      specificationVersion: 'v2',
      doStream: () => {
        const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
        const finish = { type: 'finish', finishReason: 'stop', usage } as const;
        return Promise.resolve({ stream: toStream<LanguageModelV2StreamPart>([...text, finish]) });
      },
    };
    const parts = await readParts(resolveModel(model), { prompt: fromUser('hi') });
    expect(toDeltas(parts)).toEqual(['old']);
    expect(select(parts, 'finish')[0]).toMatchObject({
      finishReason: { unified: 'stop' },
      usage: { inputTokens: { total: 1 }, outputTokens: { total: 2 } },
    });
  });

  it('resolveModel lifts models of version 3 to version 4', async () => {
    const model: LanguageModelV3 = {
      ...rest,
      specificationVersion: 'v3',
      doStream: () => Promise.resolve({ stream: toStream<LanguageModelV3StreamPart>(text) }),
    };
    const lifted = resolveModel(model);
    expect(lifted.specificationVersion).toBe('v4');
    // Another middleware wraps it once more.
    expect(isOlderModel(resolveModel(lifted, [{}]))).toBe(true);
    expect(isOlderModel(resolveModel(createScriptedModel()))).toBe(false);
    expect(await readText(resolveModel(model), { prompt: fromUser('hi') })).toBe('old');
  });

  it('resolveModel resolves an id with the default provider of the AI SDK', () => {
    expect(resolveModel('openai/gpt-test').modelId).toBe('openai/gpt-test');
  });
});

it('the scripted model performs a turn with a tool, as any provider does', async () => {
  const { inputSchema } = echo;
  const call = { tool: 'echo', id: 'c1', args: { value: 7 }, argDeltas: 2 };
  const result = streamText({
    model: createScriptedModel(),
    prompt: JSON.stringify({ script: [{ say: 'first', calls: [call] }, { quote: true }] }),
    tools: { echo: tool({ inputSchema, execute: (input) => input }) },
    stopWhen: stepCountIs(5),
  });
  const steps = await result.steps;
  expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
  expect(JSON.parse(await result.text)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', text: 'first' },
    { role: 'tool', text: '{"value":7}' },
  ]);
});
