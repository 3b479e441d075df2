import type { APICallError } from '@ai-sdk/provider';
import { defineAgent, type LlmSettings } from '../../../agents/index.js';
import { createInProcessExecutor } from '../../../extensions/one-process/index.js';

import { createMemoryStores } from '../../../store/memory/index.js';
import { apiError, fakeModel, parts, type Script } from '../../support/fake-model.js';
import { fakeAgent } from '../../support/fake-agent.js';

/** An agent tries several models, each of which may fail. */

function refusal(statusCode: number): APICallError {
  return apiError(statusCode, { message: `secret ${String(statusCode)}` });
}

const failing =
  (statusCode: number): Script =>
  () =>
    Promise.reject(refusal(statusCode));
const speaking: Script = () => parts.says('from the other');

function named(id: string, script: Script): ReturnType<typeof fakeModel> {
  return Object.assign(fakeModel(script), { modelId: id });
}

async function run(llmConfig: LlmSettings) {
  const logged: unknown[] = [];
  const stores = createMemoryStores();
  const agent = defineAgent({ name: 'guide', systemPrompt: 'Be brief.', llmConfig });
  const executor = createInProcessExecutor({
    agents: [agent],
    stores,
    logger: {
      info: () => undefined,
      warn: (fields, message) => logged.push({ ...fields, message }),
    },
  });
  try {
    const handle = await executor.execute(agent, 'Hello', { sessionId: 's1' });
    const result = await handle.result();
    const entries = await stores.streamManager.read('s1', 0, 100);
    const messages = entries.map(({ message }) => message);
    const view = await stores.store.sessions.view('s1');
    return { result, messages, view, logged };
  } finally {
    await executor.close();
  }
}

const textOf = (view: unknown): string => JSON.stringify(view);

describe('models that stand in for one another', () => {
  it('a model that refuses is asked once; the next one answers', async () => {
    const a = named('a', failing(401));
    const b = named('b', speaking);
    const { result, view, messages } = await run({ model: [a, b] });
    expect(result.status).toBe('completed');
    expect([a.doStreamCalls.length, b.doStreamCalls.length]).toEqual([1, 1]);
    expect(textOf(view?.rows)).toContain('from the other');
    expect(messages).toContainEqual(
      expect.objectContaining({ type: 'step_discarded', reason: 'provider_unauthorized' }),
    );
  });

  it('what a model streamed before it failed is withdrawn', async () => {
    const a = named('a', async function* () {
      yield* parts.text('half of a');
      throw refusal(503);
    });
    const b = named('b', speaking);
    const { view, messages } = await run({ model: [{ model: a, maxTries: 1 }, b] });
    expect(textOf(view?.rows)).not.toContain('half of a');
    expect(messages.map(({ type }) => type)).toContain('stream_resync');
    expect(a.doStreamCalls).toHaveLength(1);
  });

  it('one that takes too long to its first piece, or in all, gives way', async () => {
    const silent = named('a', async function* () {
      yield { type: 'stream-start', warnings: [] };
      await new Promise(() => undefined);
    });
    const endless = named('b', async function* () {
      yield { type: 'text-start', id: 't' };
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield { type: 'text-delta', id: 't', delta: '.' };
      }
    });
    const { result, messages } = await run({
      model: [
        { model: silent, firstPartMs: 30, maxTries: 1 },
        { model: endless, firstPartMs: 1_000, callMs: 60, maxTries: 1 },
        named('c', speaking),
      ],
    });
    expect(result.status).toBe('completed');
    const reasons = messages.flatMap((each) => (each.type === 'step_discarded' ? each.reason : []));
    expect(reasons).toEqual(['model_too_slow', 'model_too_slow']);
  });

  it('if all fail, the run has one code, and only the log says which failed how', async () => {
    const models = [failing(401), failing(400), failing(403)].map((script, at) =>
      named('abc'[at] ?? '', script),
    );
    const { result, messages, logged } = await run({ model: models });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'models_failed' } });
    expect(textOf(messages)).not.toMatch(/secret|"a"/);
    expect(logged).toContainEqual(
      expect.objectContaining({
        message: 'all models have failed',
        reasons: [
          { model: 'a', code: 'provider_unauthorized' },
          { model: 'b', code: 'provider_invalid_request' },
          { model: 'c', code: 'provider_unauthorized' },
        ],
      }),
    );
  });

  it('usage and cost are those of the model that answered', async () => {
    const { view } = await run({
      model: [
        named('a', failing(401)),
        { model: named('b', speaking), pricing: { inputPerMTok: 1_000, outputPerMTok: 0 } },
      ],
      pricing: { inputPerMTok: 1, outputPerMTok: 1 },
    });
    expect(view?.record.usage).toMatchObject({ inputTokens: 3, costMicroUsd: 3_000 });
  });

  it('the output of a call is bounded by what it may cost', async () => {
    const b = named('b', speaking);
    const pricing = { inputPerMTok: 1, outputPerMTok: 10 };
    await run({ model: b, maxOutputTokens: 500, maxOutputUsd: 0.001, pricing });
    expect(b.doStreamCalls[0]?.maxOutputTokens).toBe(100);
  });
});

const define = (model: unknown) => () => fakeAgent('a', model as never);

it.each([
  [[], /llmConfig\.model .*must name a model/s],
  [[5], /llmConfig\.model\[0\] must be a model/],
  [[{ model: 'a', callMs: -1 }], /llmConfig\.model\[0\]\.callMs must be a whole number/],
  [[{ model: 'a', timeout: 1 }], /timeout/],
])('a list of models %j is refused where it is written', (model, message) =>
  expect(define(model)).toThrow(message),
);
