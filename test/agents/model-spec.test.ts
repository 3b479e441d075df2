import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import {
  isScriptedModel,
  ModelConfigurationError,
  modelFromSpec,
  modelsFromSpec,
} from '../../agents/index.js';
import { createModel } from '../../agents/model-spec.js';
import {
  createOpenAIServer,
  type OpenAIReply,
  type OpenAIServer,
} from '../support/openai-server.js';
import { fromUser, readParts, select, toDeltas } from './streams.js';

const options = { prompt: fromUser('hello') };

let server: OpenAIServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** The wire opens each reply with an empty text, which some providers pass on. */
function toSaid(parts: LanguageModelV4StreamPart[]): string[] {
  return toDeltas(parts).filter((delta) => delta !== '');
}

const specs: [string, (baseUrl: string) => Promise<LanguageModelV4>][] = [
  [
    'openai',
    (url) => modelFromSpec('openai:gpt-test', { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url }),
  ],
  [
    'openai-compatible',
    (url) =>
      modelFromSpec('openai-compatible:gpt-test', {
        OPENAI_COMPATIBLE_BASE_URL: url,
        OPENAI_COMPATIBLE_API_KEY: 'key',
      }),
  ],
];

describe.each(specs)('a model of provider %s', (_, create) => {
  async function startModel(...replies: OpenAIReply[]): Promise<LanguageModelV4> {
    server = await createOpenAIServer(replies);
    return create(server.baseUrl);
  }

  it('a model streams text and usage, and sends key, model and messages', async () => {
    const model = await startModel({ text: ['Hel', 'lo'] });
    const parts = await readParts(model, options);
    expect(toSaid(parts)).toEqual(['Hel', 'lo']);
    const [finish] = select(parts, 'finish');
    expect(finish?.finishReason.unified).toBe('stop');
    expect(finish?.usage.outputTokens.total).toBe(2);
    const request = server?.requests[0];
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe('Bearer key');
    expect(request?.body).toMatchObject({
      model: 'gpt-test',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  it('a model streams the arguments of parallel tool calls', async () => {
    const model = await startModel({
      text: ['Wait.'],
      calls: [
        { id: 'c1', name: 'echo', argumentDeltas: ['{"val', 'ue":1}'] },
        { id: 'c2', name: 'charge', argumentDeltas: ['{"amount":5}'] },
      ],
    });
    const parts = await readParts(model, options);
    expect(select(parts, 'tool-call')).toMatchObject([
      { toolCallId: 'c1', toolName: 'echo', input: '{"value":1}' },
      { toolCallId: 'c2', toolName: 'charge', input: '{"amount":5}' },
    ]);
    const deltas = select(parts, 'tool-input-delta').filter(({ id }) => id === 'c1');
    expect(deltas.map(({ delta }) => delta).filter(Boolean)).toEqual(['{"val', 'ue":1}']);
    expect(select(parts, 'finish')[0]?.finishReason.unified).toBe('tool-calls');
  });

  it('a model asks once, and passes on a 429 with the time to wait', async () => {
    const error = { message: 'Slow down.', type: 'rate_limit_error' };
    const model = await startModel({ status: 429, error, retryAfter: '7' });
    const failure: unknown = await Promise.resolve(model.doStream(options)).then(
      undefined,
      (e: unknown) => e,
    );
    expect(APICallError.isInstance(failure)).toBe(true);
    expect(failure).toMatchObject({
      message: 'Slow down.',
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { 'retry-after': '7' },
    });
    expect(server?.requests).toHaveLength(1);
  });

  it('a model fails the stream when the connection is cut', async () => {
    const model = await startModel({ text: ['a', 'b', 'c'], cutAfter: 2, everyMs: 20 });
    const { stream } = await model.doStream(options);
    const received: string[] = [];
    const read = async (): Promise<void> => {
      for await (const part of stream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') received.push(part.delta);
      }
    };
    await expect(read()).rejects.toThrow();
    expect(['a', 'ab']).toContain(received.join(''));
  });

  it('a model passes on an error in the middle of the stream', async () => {
    const error = { message: 'Overloaded.', type: 'server_error', code: null };
    const parts = await readParts(await startModel({ text: ['a'], error }), options);
    expect(toSaid(parts)).toEqual(['a']);
    expect(select(parts, 'error')).toHaveLength(1);
    expect(select(parts, 'finish')[0]?.finishReason.unified).toBe('error');
  });

  it('a model closes the connection at once when aborted', async () => {
    const endless = Array.from({ length: 10_000 }, () => 'a');
    const model = await startModel({ text: endless, everyMs: 20 });
    const stop = new AbortController();
    const { stream } = await model.doStream({ ...options, abortSignal: stop.signal });
    const read = async (): Promise<void> => {
      for await (const { type } of stream) if (type === 'text-delta') stop.abort();
    };
    await expect(read()).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(await server?.requests[0]?.aborted).toBe(true);
  });
});

describe('modelFromSpec', () => {
  it.each([undefined, '', 'scripted'])(
    'modelFromSpec returns the scripted model for %j',
    async (spec) => {
      expect(isScriptedModel(await modelFromSpec(spec, {}))).toBe(true);
    },
  );

  it('modelFromSpec creates models of Anthropic, and accepts ids with colons', async () => {
    const { modelId, provider } = await modelFromSpec('anthropic:claude-test', {
      ANTHROPIC_API_KEY: 'k',
    });
    expect([modelId, provider]).toEqual(['claude-test', 'anthropic.messages']);
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' };
    expect(await modelFromSpec('openai-compatible:llama3:8b', env)).toMatchObject({
      modelId: 'llama3:8b',
    });
  });

  it('modelsFromSpec creates each model of a list, and one alone as it is', async () => {
    const env = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' };
    const models = await modelsFromSpec('anthropic:claude-test, openai:gpt-test', env);
    expect(models).toMatchObject([{ modelId: 'claude-test' }, { modelId: 'gpt-test' }]);
    expect(isScriptedModel(await modelsFromSpec(undefined, {}))).toBe(true);
    await expect(modelsFromSpec('anthropic:x,nowhere', env)).rejects.toThrow(/nowhere/);
  });

  it.each([
    ['openai', { OPENAI_API_KEY: 'k' }, 'npm install @ai-sdk/openai@4'],
    ['anthropic', { ANTHROPIC_API_KEY: 'k' }, 'npm install @ai-sdk/anthropic@4'],
    ['google', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }, 'npm install @ai-sdk/google@4'],
    [
      'openai-compatible',
      { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' },
      'npm install @ai-sdk/openai-compatible@3',
    ],
  ])(
    'modelFromSpec names the command that installs a missing package of %s',
    async (name, env, install) => {
      const load = (missing: string): Promise<never> =>
        Promise.reject(
          Object.assign(new Error(`Cannot find package '${missing}' imported from here`), {
            code: 'ERR_MODULE_NOT_FOUND',
          }),
        );
      const creation = createModel(`${name}:x`, env, load);
      await expect(creation).rejects.toThrow(ModelConfigurationError);
      await expect(creation).rejects.toMatchObject({ variable: 'MODEL', install });
      await expect(creation).rejects.toThrow(install);
    },
  );

  it('modelFromSpec passes on any other error of loading a package', async () => {
    const fault = new Error("Cannot find package 'undici' imported from @ai-sdk/openai");
    const load = (): Promise<never> =>
      Promise.reject(Object.assign(fault, { code: 'ERR_MODULE_NOT_FOUND' }));
    await expect(createModel('openai:x', { OPENAI_API_KEY: 'k' }, load)).rejects.toBe(fault);
  });
});
