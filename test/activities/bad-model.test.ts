import { APICallError, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineTool } from '../../agents/index.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

type Part = LanguageModelV4StreamPart;
const { text, call, finish } = parts;

const echo = defineTool({
  name: 'echo',
  description: 'Says it again.',
  inputSchema: z.object({ value: z.unknown() }),
  execute: ({ value }) => value,
});

async function harnessOf(model: ReturnType<typeof fakeModel>, stallTimeoutMs = 60_000) {
  const stores = await openTestStores();
  const more = { llmConfig: { stallTimeoutMs, maxTries: 5 } };
  return { ...createHarness(stores, { model, tools: [echo], more }), store: stores.store };
}

async function* silentAfter(parts: Part[]): AsyncGenerator<Part> {
  yield* parts;
  await new Promise(() => undefined);
}

describe('a model that goes silent', () => {
  it.each([
    ['before its first word', () => new Promise<never>(() => undefined)],
    ['in the middle, deaf to its signal', () => silentAfter(text('Well').slice(0, -1))],
  ])('%s is given up and asked again', async (_, silent) => {
    const model = fakeModel((n) => (n === 0 ? silent() : [...text('Here.'), ...finish()]));
    const { session, begin, step } = await harnessOf(model, 500);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('step_discarded')).toMatchObject([{ reason: 'model_stalled' }]);
    expect(model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
    expect(textIn(await session.log())).toBe('Here.');
  });

  it('each time fails the run', async () => {
    const model = fakeModel(() => silentAfter([]));
    const { begin, step } = await harnessOf(model, 20);
    expect(await step(await begin(), 1)).toMatchObject({
      status: 'failed',
      error: { code: 'model_stalled', retryable: true },
    });
    expect(model.doStreamCalls).toHaveLength(5);
  });

  it('now and then, but for less than the limit, is waited for', async () => {
    const model = fakeModel(async function* () {
      for (const part of [...text('a b c '.repeat(4)), ...finish()]) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield part;
      }
    });
    const { begin, step } = await harnessOf(model, 2_000);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls).toHaveLength(1);
  });
});

describe('a model that calls tools badly', () => {
  const deep = `{"value":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
  it.each([
    ['an unknown tool', call('c', 'nope', {}), 'There is no tool named "nope".'],
    ['a tool without a name', call('c', '', {}), 'There is no tool named "unnamed".'],
    ['a tool with an endless name', call('c', 'n'.repeat(9_000), {}), 'There is no tool named'],
    ['with input that is no JSON', call('c', 'echo', '{"value":'), 'no valid JSON'],
    ['with input of another type', call('c', 'echo', '[1]'), 'Invalid input for "echo"'],
    ['with input that is nested without end', call('c', 'echo', deep), 'nested too deeply'],
    [
      'with too much input',
      call('c', 'echo', { value: 'x'.repeat(130 * 1024) }),
      'larger than 128 KB',
    ],
  ])('%s gets an error that says so', async (_, calls, message) => {
    const model = fakeModel(sayInTurn([...calls, ...finish('tool-calls')]));
    const { begin, play } = await harnessOf(model);
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))).toContain(
      JSON.stringify(message).slice(1, -1),
    );
  });

  it('a model that uses one id twice in a step has made two calls', async () => {
    const model = fakeModel(
      sayInTurn([
        ...call('c', 'echo', { value: 1 }),
        ...call('c', 'echo', { value: 2 }),
        ...finish(),
      ]),
    );
    const { begin, play, session, store } = await harnessOf(model);
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    expect(await store.sessions.rows(session.id, 2)).toMatchObject([
      { toolCallId: 'c', output: 1 },
      { toolCallId: 'c_1', output: 2 },
      { role: 'assistant' },
    ]);
  });

  it('a model that uses ids of an earlier run has made new calls', async () => {
    const model = fakeModel((n) =>
      n % 2 === 0
        ? [...call('c', 'echo', { value: n }), ...finish()]
        : [...text('ok'), ...finish()],
    );
    const { begin, play, session, store } = await harnessOf(model);
    await play(await begin());
    await play(await begin());
    const rows = await store.sessions.rows(session.id, 0);
    expect(rows.flatMap((row) => (row.role === 'tool' ? [row.toolCallId] : []))).toEqual([
      'c',
      'c_1',
    ]);
  });

  it('a call that a model breaks off is closed for those who saw it', async () => {
    const model = fakeModel(
      sayInTurn([
        { type: 'tool-input-start', id: 'c', toolName: 'echo' },
        { type: 'tool-input-delta', id: 'c', delta: '{"value":1' },
        ...finish('length'),
      ]),
    );
    const { begin, step, session, store } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('tool_input_error')).toMatchObject([{ toolCallId: 'c' }]);
    expect(await store.sessions.rows(session.id, 1)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool-call', toolCallId: 'c' }] },
      { role: 'tool', toolCallId: 'c', errorCode: 'invalid_tool_input' },
    ]);
    expect(await store.sessions.read(session.id)).toMatchObject({ finishReason: 'length' });
  });

  it('a model that sends a megabyte of arguments gets an error, and not all of them are shown', async () => {
    const piece = 'x'.repeat(1_000);
    const model = fakeModel(
      sayInTurn([
        { type: 'tool-input-start', id: 'c', toolName: 'echo' },
        { type: 'tool-input-delta', id: 'c', delta: '{"value":"' },
        ...Array.from({ length: 1_000 }, (): Part => ({
          type: 'tool-input-delta',
          id: 'c',
          delta: piece,
        })),
        ...call('c', 'echo', { value: piece.repeat(1_000) }),
        ...finish(),
      ]),
    );
    const { begin, play, session } = await harnessOf(model);
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    const shown = (await session.messages('tool_arg_stream_delta'))
      .map(({ delta }) => delta)
      .join('');
    expect(shown.length).toBeGreaterThan(128 * 1024);
    expect(shown.length).toBeLessThan(140 * 1024);
  });

  it('a call that the provider executes is not taken for ours', async () => {
    const model = fakeModel(
      sayInTurn([
        { type: 'tool-input-start', id: 'p', toolName: 'web_search', providerExecuted: true },
        { type: 'tool-input-delta', id: 'p', delta: '{}' },
        { type: 'tool-input-end', id: 'p' },
        {
          type: 'tool-call',
          toolCallId: 'p',
          toolName: 'web_search',
          input: '{}',
          providerExecuted: true,
        },
        { type: 'tool-result', toolCallId: 'p', toolName: 'web_search', result: { found: 1 } },
        { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example' },
        // Would run in the page of one who clicks on it.
        { type: 'source', sourceType: 'url', id: 'x', url: 'javascript:alert(1)' },
        ...text('Found it.'),
        ...finish(),
      ]),
    );
    const { begin, step, session, store } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(await store.sessions.rows(session.id, 1)).toMatchObject([
      {
        parts: [
          { type: 'tool-call', kind: 'provider', toolCallId: 'p', toolName: 'web_search' },
          { type: 'tool-result', toolCallId: 'p', output: { found: 1 } },
          { type: 'source-url', sourceId: 's', url: 'https://a.example' },
          { type: 'text', text: 'Found it.' },
        ],
      },
    ]);
  });
});

describe('a model that says odd things', () => {
  it('a reply of 10,000 tiny deltas is stored as one text', async () => {
    const words = 'ab '.repeat(3_334);
    const model = fakeModel(() => [...text(words), ...finish()]);
    const { begin, step, session, store } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(textIn(await session.log())).toBe(words);
    expect(await store.sessions.rows(session.id, 1)).toMatchObject([{ parts: [{ text: words }] }]);
  });

  it('a model that returns nothing has still made a step', async () => {
    const { begin, step, store, session } = await harnessOf(fakeModel(() => finish()));
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await store.sessions.rows(session.id, 1)).toMatchObject([
      { role: 'assistant', parts: [] },
    ]);
    expect(await session.messages('step_end')).toMatchObject([{ finishReason: 'stop' }]);
  });

  it.each(['length', 'content-filter'] as const)(
    'a reply that ends by %s has that finish reason',
    async (reason) => {
      const model = fakeModel(() => [...text('So'), ...finish(reason)]);
      const { begin, step, store, session } = await harnessOf(model);
      expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
      expect(await session.messages('step_end')).toMatchObject([{ finishReason: reason }]);
      expect(await store.runs.current(session.id)).toMatchObject({ finishReason: reason });
    },
  );

  it('token counts that are no numbers are left out', async () => {
    const usage = {
      inputTokens: { total: NaN, noCache: NaN, cacheRead: null as never, cacheWrite: -3 },
      outputTokens: { total: Infinity, text: 1, reasoning: 1.4 },
    };
    const model = fakeModel(() => [...text('So'), ...finish('stop', usage)]);
    const { begin, step, store, session } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('step_end')).toMatchObject([
      { usage: { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 1 } },
    ]);
    expect((await store.sessions.read(session.id))?.usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      reasoningTokens: 1,
    });
  });

  it('what comes behind its finish is not taken, and an error there does not fail the step', async () => {
    const late: Part[] = [...text('And more.'), { type: 'error', error: new Error('late') }];
    const model = fakeModel(() => [...text('So.'), ...finish(), ...late]);
    const { begin, step, session } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(textIn(await session.log())).toBe('So.');
    expect(model.doStreamCalls).toHaveLength(1);
  });

  it('a stream that stays open behind its finish is not waited for', async () => {
    const model = fakeModel(() => silentAfter([...text('So.'), ...finish()]));
    const { begin, step } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
  });

  it('a delta without a text says nothing', async () => {
    const empty = { type: 'text-delta', id: 't', delta: undefined } as unknown as Part;
    const model = fakeModel(() => [...text('So.', 't').slice(0, -1), empty, ...finish()]);
    const { begin, step, session } = await harnessOf(model);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(textIn(await session.log())).toBe('So.');
  });

  it('an error whose long text holds a key does not leak it', async () => {
    const body = `sk-secret-${'x'.repeat(200_000)}`;
    const error = new APICallError({
      message: body,
      url: 'https://model.example',
      requestBodyValues: { key: body },
      statusCode: 400,
      responseBody: body,
    });
    const model = fakeModel(() => [...text('So'), { type: 'error', error }]);
    const { begin, step, session, store } = await harnessOf(model);
    const outcome = await step(await begin(), 1);
    expect(outcome).toMatchObject({ error: { code: 'provider_invalid_request' } });
    const record = await store.sessions.read(session.id);
    expect(JSON.stringify([outcome, record, await session.log()])).not.toContain('sk-secret');
  });
});
