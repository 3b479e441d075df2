import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { LoadAPIKeyError, LoadSettingError, NoSuchModelError } from '@ai-sdk/provider';
import { ModelConfigurationError, modelFromSpec } from '../../agents/index.js';
import { createModel } from '../../agents/model-spec.js';
import { listen } from '../support/listen.js';
import { fromUser, readParts, select, toDeltas } from './streams.js';

/** By their names here, so that the check for unused packages sees them. */
const INSTALLED: Readonly<Record<string, () => Promise<unknown>>> = {
  '@ai-sdk/groq': () => import('@ai-sdk/groq'),
  '@ai-sdk/mistral': () => import('@ai-sdk/mistral'),
};

function load(name: string): Promise<unknown> {
  const found = INSTALLED[name];
  if (found !== undefined) return found();
  const fault = new Error(`Cannot find package '${name}' imported from here`);
  return Promise.reject(Object.assign(fault, { code: 'ERR_MODULE_NOT_FOUND' }));
}

const exporting = (exports: unknown) => () => Promise.resolve(exports);

interface Asked {
  path: string | undefined;
  key: unknown;
  model?: unknown;
}

/** A provider that streams one event, and notes what it is asked. */
async function startProvider(event: object): Promise<{ origin: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const { authorization: key = request.headers['x-goog-api-key'] } = request.headers;
    json(request)
      .then((body) => {
        asked.push({ path: request.url, key, model: (body as { model?: unknown }).model });
        response.setHeader('content-type', 'text/event-stream');
        response.end(`data: ${JSON.stringify(event)}\n\n`);
      })
      .catch(() => response.destroy());
  });
  return { origin: (await listen(server)).url, asked };
}

it('a model of Google streams from its address, with its key', async () => {
  const content = { role: 'model', parts: [{ text: 'Hello' }] };
  const { origin, asked } = await startProvider({
    candidates: [{ content, finishReason: 'STOP' }],
  });
  const model = await modelFromSpec('google:gemini-test', {
    GOOGLE_GENERATIVE_AI_API_KEY: 'key',
    GOOGLE_GENERATIVE_AI_BASE_URL: `${origin}/v1beta`,
  });
  const parts = await readParts(model, { prompt: fromUser('hello') });
  expect(toDeltas(parts)).toEqual(['Hello']);
  expect(select(parts, 'finish')[0]?.finishReason.unified).toBe('stop');
  const path = '/v1beta/models/gemini-test:streamGenerateContent?alt=sse';
  expect(asked).toEqual([{ path, key: 'key' }]);
});

describe('the name of a model', () => {
  it.each(['mistral', 'groq'])('a model of %s streams from its address, once', async (name) => {
    const delta = { role: 'assistant', content: 'Hello' };
    const choices = [{ index: 0, delta, finish_reason: 'stop' }];
    const { origin, asked } = await startProvider({ id: '1', created: 1, model: 'm', choices });
    const prefix = name.toUpperCase();
    const env = { [`${prefix}_API_KEY`]: 'key', [`${prefix}_BASE_URL`]: `${origin}/v9` };
    const model = await createModel(`${name}:a/b:c`, env, load);
    // What finds missing keys has sent nothing.
    expect(asked).toEqual([]);
    const parts = await readParts(model, { prompt: fromUser('hello') });
    expect(toDeltas(parts).join('')).toBe('Hello');
    expect(asked).toEqual([{ path: '/v9/chat/completions', key: 'Bearer key', model: 'a/b:c' }]);
  });

  it.each([
    ['openai:gpt-test', {}, 'OPENAI_API_KEY'],
    ['openai:gpt-test', { OPENAI_API_KEY: '' }, 'OPENAI_API_KEY'],
    ['openai:x', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'nowhere' }, 'OPENAI_BASE_URL'],
    ['anthropic:claude-test', {}, 'ANTHROPIC_API_KEY'],
    ['google:gemini-test', {}, 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['openai-compatible:llama', {}, 'OPENAI_COMPATIBLE_BASE_URL'],
    [
      'openai-compatible:llama',
      { OPENAI_COMPATIBLE_BASE_URL: 'ftp://x' },
      'OPENAI_COMPATIBLE_BASE_URL',
    ],
    ['gpt-test', {}, 'MODEL'],
    ['openai:', {}, 'MODEL'],
    [':gpt-test', {}, 'MODEL'],
    ['toString:x', {}, 'MODEL'],
    ['mistral:x', {}, 'MISTRAL_API_KEY'],
    ['groq:x', { GROQ_API_KEY: '' }, 'GROQ_API_KEY'],
    ['groq:x', { GROQ_API_KEY: 'k', GROQ_BASE_URL: 'nowhere' }, 'GROQ_BASE_URL'],
    ['react:x', {}, 'MODEL'],
    ['../mistral:x', {}, 'MODEL'],
    ['Mistral:x', {}, 'MODEL'],
    ['mistral/dist:x', {}, 'MODEL'],
    ['constructor:x', {}, 'MODEL'],
    ['mistral:', {}, 'MODEL'],
  ])('modelFromSpec refuses %j with %j and names %s', async (spec, env, variable) => {
    const creation = createModel(spec, env, load);
    await expect(creation).rejects.toThrow(ModelConfigurationError);
    await expect(creation).rejects.toMatchObject({ variable });
    await expect(creation).rejects.toThrow(variable);
  });

  it('modelFromSpec loads packages of the AI SDK only, and names the one to install', async () => {
    const asked: string[] = [];
    const noting = (name: string): Promise<unknown> => {
      asked.push(name);
      return load(name);
    };
    const creation = createModel('xai:grok-test', { XAI_API_KEY: 'k' }, noting);
    await expect(creation).rejects.toMatchObject({ install: 'npm install @ai-sdk/xai' });
    for (const name of ['../evil', 'left pad', 'groq/dist', '@evil/groq', '.', 'Groq']) {
      await expect(createModel(`${name}:x`, {}, noting)).rejects.toThrow(ModelConfigurationError);
    }
    expect(asked).toEqual(['@ai-sdk/xai']);
  });

  it.each([
    ['has no models at all', { tool: () => ({}) }],
    ['has other models', { createPaint: () => ({ languageModel: refuse }) }],
  ])('modelFromSpec refuses a package that %s', async (_, exports) => {
    const creation = createModel('paint:x', {}, exporting(exports));
    await expect(creation).rejects.toThrow('@ai-sdk/paint has no such language model');
    await expect(creation).rejects.toThrow(ModelConfigurationError);
  });

  it('modelFromSpec passes on what a provider lacks, under the name that it says', async () => {
    const doGenerate = (): Promise<never> =>
      Promise.reject(new LoadAPIKeyError({ message: 'No key in PAINT_SHOP_TOKEN.' }));
    const model = { specificationVersion: 'v4', provider: 'p', modelId: 'x', doGenerate };
    const load = exporting({ createPaint: () => ({ languageModel: () => model }) });
    await expect(createModel('paint:x', {}, load)).rejects.toMatchObject({
      name: 'ModelConfigurationError',
      variable: 'PAINT_SHOP_TOKEN',
      message: 'MODEL is "paint:x": No key in PAINT_SHOP_TOKEN.',
    });
  });
});

it('modelFromSpec asks a model in vain, also where a package sends by means of its own', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const doGenerate = ({ abortSignal }: { abortSignal?: AbortSignal }): Promise<never> => {
    signals.push(abortSignal);
    return Promise.reject(new Error('aborted'));
  };
  const model = { specificationVersion: 'v4', provider: 'p', modelId: 'x', doGenerate };
  await createModel(
    'paint:x',
    {},
    exporting({ createPaint: () => ({ languageModel: () => model }) }),
  );
  expect(signals).toMatchObject([{ aborted: true }]);
});

it('modelFromSpec says what a provider lacks that is not even created', async () => {
  const createPaint = (): never => {
    throw new LoadSettingError({ message: 'No PAINT_REGION.' });
  };
  await expect(createModel('paint:x', {}, exporting({ createPaint }))).rejects.toMatchObject({
    name: 'ModelConfigurationError',
    variable: 'PAINT_REGION',
  });
});

function refuse(): never {
  throw new NoSuchModelError({ modelId: 'x', modelType: 'languageModel' });
}
