import { APICallError } from '@ai-sdk/provider';
import { MockLanguageModelV4 } from 'ai/test';
import { createCallModel } from '../../activities/model/call-model.js';
import { toModelCall } from '../../activities/model/call-options.js';
import { compaction } from '../../activities/model/compaction.js';
import { easing } from '../../activities/model/eased-prompt.js';
import { createFinishHooks, HOOK_MS } from '../../activities/model/finish-hooks.js';
import { inputHooks } from '../../activities/model/input-hooks.js';
import type { ClaimedStep, ModelCall, ModelRequest } from '../../activities/model/middleware.js';
import { createStepReply } from '../../activities/model/step-reply.js';
import { repairCalls } from '../../activities/model/repair-call.js';
import { stopConditions } from '../../activities/model/stop-conditions.js';
import { timing } from '../../activities/model/spending.js';
import type { Row } from '../../protocol/rows.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { RunEvent } from '../../protocol/telemetry.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { fakeAgent } from '../support/fake-agent.js';

const ref = { sessionId: 's1', runId: 's1:1-x', agent: 'tester', step: 1 };
const model = fakeModel(() => parts.says('Hello.'));

const reply: Row = {
  role: 'assistant',
  messageId: 'msg-1',
  runId: ref.runId,
  step: 1,
  parts: [{ type: 'text', text: 'Hello.' }],
};

function requestOf(more: Partial<ModelRequest> = {}): ModelRequest {
  const base = { agentId: ref.sessionId, agentType: ref.agent, step: ref.step };
  return {
    step: {
      ref,
      agent: { tools: [], llmConfig: { stallTimeoutMs: 1_000 } },
      attempt: { signal: new AbortController().signal, cutReason: () => undefined },
      claim: {},
      chunks: { push: () => undefined, room: () => undefined },
      progress: {},
    },
    ref,
    choice: {},
    times: {},
    recorded: [],
    reply: createStepReply(base, new Set(), Date.now),
    call: { model, options: { prompt: [] } },
    ...more,
  } as unknown as ModelRequest;
}

it('a model is not silent while its reply waits for what is called with its parts', async () => {
  jest.useFakeTimers();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let asked: Promise<unknown> | undefined;
  await new Promise<void>((called) => {
    const onPart = (): Promise<void> => {
      called();
      return released;
    };
    asked = createCallModel({ store: {} as never })(requestOf({ onPart }));
  });
  jest.advanceTimersByTime(5_000);
  release();
  expect(await asked).toMatchObject({ request: { times: { finishMs: expect.any(Number) } } });
});

it('a model that is silent now and then, but for less than the limit, is waited for', async () => {
  jest.useFakeTimers();
  let spoken = 0;
  const hesitant = fakeModel(async function* () {
    for (const part of parts.says('Hm.')) {
      await new Promise((resolve) => setTimeout(resolve, 900));
      spoken += 1;
      yield part;
    }
  });
  const call = { model: hesitant, options: { prompt: [] } } as unknown as ModelCall;
  const asked = createCallModel({ store: {} as never })(requestOf({ call }));
  await jest.advanceTimersByTimeAsync(900 * parts.says('Hm.').length);
  expect(await asked).not.toHaveProperty('failure');
  expect(spoken).toBe(parts.says('Hm.').length);
});

it('a model is read no faster than the store takes its reply', async () => {
  let release: () => void = () => undefined;
  const room = new Promise<void>((resolve) => (release = resolve));
  const push = jest.fn();
  const request = requestOf();
  request.step.chunks = { push, room: () => room } as unknown as ClaimedStep['chunks'];
  const asked = createCallModel({ store: {} as never })(request);
  await new Promise((resolve) => setImmediate(resolve));
  expect(push).toHaveBeenCalledTimes(1);
  release();
  await asked;
});

describe('code of an agent that hangs', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  const hang = (): Promise<never> => new Promise(() => undefined);

  it('holds a reply up for ten seconds, if it is a hook of a tool', async () => {
    const tools = [{ name: 'tool', onInput: { start: hang } }];
    const call = { tools, options: { prompt: [] } } as unknown as ModelCall;
    const request = requestOf({ call, reply: { knownId: () => 'c1' } as never });
    const warn = jest.fn();
    await inputHooks({ ...request.step, warn })(request, () => Promise.resolve({ request }));
    const heard = request.onPart?.({ type: 'tool-input-start', id: 'c1', toolName: 'tool' });
    await jest.advanceTimersByTimeAsync(HOOK_MS);
    await heard;
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('holds a step up for ten seconds, if it is a hook of its end', async () => {
    const { runId, sessionId } = ref;
    const sessions = {
      read: () => Promise.resolve({ runId, turnStartRow: 0 }),
      rows: () => Promise.resolve([reply]),
    };
    const warn = jest.fn();
    const callFinishHooks = createFinishHooks({
      store: { sessions } as never,
      logger: { warn } as never,
    });
    const agent = { ...fakeAgent('tester', model) };
    const told = callFinishHooks({
      agent: { ...agent, onFinish: hang },
      sessionId,
      runId,
      step: 1,
      isLast: true,
    });
    await jest.advanceTimersByTimeAsync(HOOK_MS);
    await told;
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('leaves prepareStep a quarter of its time, if it summarises', async () => {
    const store = { steps: { compact: () => Promise.resolve({ kind: 'none' }) } };
    const request = requestOf();
    const warn = jest.fn();
    const step = { ...request.step, warn, rows: [], writer: {} } as unknown as ClaimedStep;
    const middleware = compaction({ store: store as never })(step);
    await middleware(request, () => Promise.resolve({ request }));
    const { keep } = request.compactions?.record([0, 1], { pricing: undefined }) ?? {};
    const kept = keep?.(hang, 60_000);
    await jest.advanceTimersByTimeAsync(750);
    expect(await kept).toBeUndefined();
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

it('a stream is read to its end, which a middleware of the model may wait for', async () => {
  let isRead = false;
  const counted = fakeModel(async function* () {
    yield* parts.says('Hello.');
    for (const id of ['a', 'b', 'c']) yield { type: 'text-start', id };
    isRead = true;
    await Promise.resolve();
  });
  const call = { model: counted, options: { prompt: [] } } as unknown as ModelCall;
  await createCallModel({ store: {} as never })(requestOf({ call }));
  expect(isRead).toBe(true);
});

describe('a request to a model', () => {
  const began = { at: 0, clockMs: 0 };
  const usage = { inputTokens: 3, outputTokens: 2 };
  const failure = { code: 'model_stalled', message: '', retryable: true };
  const asked = { agent: 'tester', provider: 'mock-provider', model: 'mock-model-id' };
  const used = { kind: 'tokens_used', run: { sessionId: 's1', runId: 's1:1-x' }, ...asked, usage };
  const called = { kind: 'model_called', ...asked, seconds: expect.any(Number) as unknown };

  it.each([
    ['that is answered', { began, firstMs: 250 }, {}, [{ ...called, firstSeconds: 0.25 }, used]],
    ['that fails', { began }, { failure }, [{ ...called, code: 'model_stalled' }, used]],
    ['that a stop cuts', { began }, { cut: 'stop' }, [used]],
    ['that was never made', {}, { failure }, []],
  ])('%s is counted once, and its usage once it is recorded', async (_, times, how, events) => {
    const { failure: failed, cut } = how as { failure?: typeof failure; cut?: 'stop' };
    const met: RunEvent[] = [];
    const request = requestOf({ times });
    const step = { ...request.step, attempt: { ...request.step.attempt, cutReason: () => cut } };
    await timing({ meter: (event) => met.push(event) })(step)(request, () =>
      Promise.resolve({ request, failure: failed }),
    );
    for (const tell of request.recorded) tell(usage);
    expect(met).toEqual(events);
  });
});

const message: Row = { role: 'user', id: 'u2', parts: [{ type: 'text', text: 'And?' }] };

it.each([
  ['its newest reply ends it', [reply], true],
  ['a message came meanwhile, so that it is answered', [reply, message], undefined],
])('a run whose stop condition holds: %s', async (_, rows, isOver) => {
  const agent = { stopWhen: () => true, tools: [], llmConfig: { model } };
  const attempt = { signal: new AbortController().signal };
  const step = { agent, rows, attempt, claim: { messageId: 'msg-1' } } as unknown as ClaimedStep;
  const request = requestOf();
  const answer = await stopConditions(step)(request, () => Promise.resolve({ request }));
  expect(answer.isOver).toBe(isOver);
});

it.each([
  [0, 'chosen'],
  [1, 'second'],
])('if prepareStep chooses a model, try %d asks the %s one', async (index, modelId) => {
  const second = new MockLanguageModelV4({ modelId: 'second' });
  const chosen = new MockLanguageModelV4({ modelId: 'chosen' });
  const agent = fakeAgent('tester', model, { prepareStep: () => ({ model: chosen }) });
  const attempt = { number: 1, signal: new AbortController().signal };
  const claim = { messageId: 'msg-1', waits: 0 };
  const step = { agent, rows: [message], claim, attempt, progress: { failures: 0 } };
  const request = { ref, choice: { model: second }, turn: { index, before: 0 } };
  const call = await toModelCall(
    step as unknown as ClaimedStep,
    request as unknown as ModelRequest,
  );
  expect(call.model.modelId).toBe(modelId);
});

it.each<[string, number, Partial<ModelRequest>]>([
  ['is shortened four times for the last model', 5, {}],
  ['is not shortened while another model may take it', 1, { isLast: false }],
  ['is not shortened once a reply has begun', 1, { reply: { begun: () => true } as never }],
])('a prompt that is too long %s', async (_, times, more) => {
  const refusal = { message: 'prompt is too long', statusCode: 400 };
  const error = new APICallError({ ...refusal, url: 'http://model', requestBodyValues: {} });
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(10_000) }] }];
  const call: ModelCall = {
    model,
    options: { prompt },
    withEased: () => call,
  } as unknown as ModelCall;
  const request = requestOf({ isLast: true, call, ...more });
  let asked = 0;
  const ask = easing({ ...request.step, warn: () => undefined });
  const answer = ask(request, () => {
    asked += 1;
    return Promise.reject(error);
  });
  await expect(answer).rejects.toBe(error);
  expect(asked).toBe(times);
});

it('an agent repairs the calls of its tools, and none that submits its result', async () => {
  const asked: string[] = [];
  const agent = {
    repairToolCall: ({ toolCall }: { toolCall: { toolName: string } }) => {
      asked.push(toolCall.toolName);
      return { ...toolCall, toolName: 'known' };
    },
  };
  const calls = ['unknown', FINISH_TOOL_NAME].map((toolName) => {
    return { toolCallId: toolName, toolName, input: '' };
  });
  const attempt = { signal: new AbortController().signal };
  const request = { step: { agent, attempt }, reply: { calls } } as unknown as ModelRequest;
  const call = { tools: [], instructions: '', options: { prompt: [] } } as unknown as ModelCall;
  const repaired = await repairCalls(request, call);
  expect(repaired.map(({ toolName }) => toolName)).toEqual(['known', FINISH_TOOL_NAME]);
  expect(asked).toEqual(['unknown']);
});
