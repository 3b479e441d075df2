import {
  APICallError,
  InvalidPromptError,
  type LanguageModelV4StreamPart,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { openHarness } from '../support/activity-harness.js';
import { parts, sayInTurn, type Script } from '../support/fake-model.js';
import { textIn } from '../support/session-driver.js';
import { fakeTool } from '../support/fake-tool.js';

type Part = LanguageModelV4StreamPart;
const { text, call, finish, says, asks } = parts;

const echo = fakeTool('echo', ({ value }) => value, {
  inputSchema: z.object({ value: z.unknown() }),
});

function harnessOf(script: Script, stallTimeoutMs = 60_000) {
  const more = { llmConfig: { stallTimeoutMs, maxTries: 2 } };
  return openHarness(script, { tools: [echo], more });
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
    const { session, begin, step, model } = await harnessOf(
      (n) => (n === 0 ? silent() : says('Here.')),
      500,
    );
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('step_discarded')).toMatchObject([{ reason: 'model_stalled' }]);
    expect(model.doStreamCalls[0]?.abortSignal?.aborted).toBe(true);
    expect(textIn(await session.log())).toBe('Here.');
  });

  it('each time fails the run', async () => {
    const { begin, step, model } = await harnessOf(() => silentAfter([]), 20);
    expect(await step(await begin(), 1)).toMatchObject({
      status: 'failed',
      error: { code: 'model_stalled', retryable: true },
    });
    expect(model.doStreamCalls).toHaveLength(2);
  });
});

describe('a model that calls tools badly', () => {
  const withInput = (input: unknown): Part[] => [{ ...call('c', 'echo', {})[0], input } as Part];
  const deep = `{"value":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
  it.each([
    ['an unknown tool', call('c', 'nope', {}), 'There is no tool named "nope".'],
    ['a tool without a name', call('c', '', {}), 'There is no tool named "unnamed".'],
    ['a tool with an endless name', call('c', 'n'.repeat(9_000), {}), 'There is no tool named'],
    ['without an input', withInput(undefined), 'Invalid input for "echo"'],
    ['with input that is no JSON', call('c', 'echo', '{"value":'), 'no valid JSON'],
    [
      'with a key that no page shows',
      call('c', 'echo', '{"value":{"\\u005f_proto__":1}}'),
      'prototypes',
    ],
    ['with input of another type', call('c', 'echo', '[1]'), 'Invalid input for "echo"'],
    ['with input that is nested without end', call('c', 'echo', deep), 'nested too deeply'],
    [
      'with too much input',
      call('c', 'echo', { value: 'x'.repeat(130 * 1024) }),
      'larger than 128 KB',
    ],
  ])('%s gets an error that says so', async (_, calls, message) => {
    const { begin, play, model } = await harnessOf(sayInTurn(asks(calls)));
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))).toContain(
      JSON.stringify(message).slice(1, -1),
    );
  });

  it('a call whose input is an object in place of a text is carried out', async () => {
    const { begin, play, rows } = await harnessOf(sayInTurn(asks(withInput({ value: 1 }))));
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    expect(await rows(0)).toContainEqual(expect.objectContaining({ toolCallId: 'c', output: 1 }));
  });

  it('a model that uses ids of an earlier run has made new calls', async () => {
    const { begin, play, rows } = await harnessOf((n) =>
      n % 2 === 0 ? [...call('c', 'echo', { value: n }), ...finish()] : says('ok'),
    );
    await play(await begin());
    await play(await begin());
    const stored = await rows(0);
    expect(stored.flatMap((row) => (row.role === 'tool' ? [row.toolCallId] : []))).toEqual([
      'c',
      'c_1',
    ]);
  });

  it('a call that a model breaks off is closed for those who saw it', async () => {
    const { begin, step, session, rows, record } = await harnessOf(
      sayInTurn([...parts.args('c', 'echo', '{"value":1'), ...finish('length')]),
    );
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('tool_input_error')).toMatchObject([{ toolCallId: 'c' }]);
    expect(await rows(1)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool-call', toolCallId: 'c' }] },
      { role: 'tool', toolCallId: 'c', errorCode: 'invalid_tool_input' },
    ]);
    expect(await record()).toMatchObject({ finishReason: 'length' });
  });

  it('a model that sends a megabyte of arguments gets an error, and not all of them are shown', async () => {
    const piece = 'x'.repeat(1_000);
    const { begin, play, session } = await harnessOf(
      sayInTurn([
        ...parts.args('c', 'echo', '{"value":"', ...Array<string>(1_000).fill(piece)),
        ...call('c', 'echo', { value: piece.repeat(1_000) }),
        ...finish(),
      ]),
    );
    expect(await play(await begin())).toMatchObject({ status: 'completed' });
    const shown = (await session.messages('tool_arg_stream_delta'))
      .map(({ delta }) => delta)
      .join('');
    expect(shown.length).toBeGreaterThan(128 * 1024);
    expect(shown.length).toBeLessThan(140 * 1024);
  });
});

const functionality = 'media type: audio/x';
it.each([
  [new UnsupportedFunctionalityError({ functionality }), 'prompt_file_refused'],
  [new InvalidPromptError({ prompt: [], message: 'no' }), 'prompt_not_taken'],
  [new TypeValidationError({ value: 1, cause: 'no' }), 'prompt_not_taken'],
  [Object.assign(new Error('no'), { name: 'ZodError' }), 'prompt_not_taken'],
  [new Error('no'), 'model_request_failed'],
])(
  'a package that can make no request of the conversation fails the run by what it throws: %s',
  async (error, code) => {
    const { begin, step, session } = await harnessOf(() => Promise.reject(error));
    expect(await step(await begin(), 1)).toMatchObject({ status: 'failed', error: { code } });
    // A step that has said nothing is not shown.
    expect(await session.messages('step_end')).toEqual([]);
  },
);

describe('a model that says odd things', () => {
  it.each([
    ['stop', []],
    ['length', text('So')],
    ['content-filter', text('So')],
  ] as const)(
    'a reply that ends by %s has that finish reason, also an empty one',
    async (reason, said) => {
      const { begin, step, session, stores, rows } = await harnessOf(() => [
        ...said,
        ...finish(reason),
      ]);
      expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
      expect(await rows(1)).toMatchObject([
        { role: 'assistant', parts: said.length > 0 ? [{}] : [] },
      ]);
      expect(await session.messages('step_end')).toMatchObject([{ finishReason: reason }]);
      expect(await stores.store.runs.current(session.id)).toMatchObject({ finishReason: reason });
    },
  );

  it('token counts that are no numbers are left out', async () => {
    const usage = {
      inputTokens: { total: NaN, noCache: NaN, cacheRead: null as never, cacheWrite: -3 },
      outputTokens: { total: Infinity, text: 1, reasoning: 1.4 },
    };
    const { begin, step, session, record } = await harnessOf(() => [
      ...text('So'),
      ...finish('stop', usage),
    ]);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await session.messages('step_end')).toMatchObject([
      { usage: { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 1 } },
    ]);
    expect((await record())?.usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
      reasoningTokens: 1,
    });
  });

  it('what comes behind its finish is not taken, and an error there does not fail the step', async () => {
    const late: Part[] = [...text('And more.'), { type: 'error', error: new Error('late') }];
    const { begin, step, session, model } = await harnessOf(() => [
      ...text('So.'),
      ...finish(),
      ...late,
    ]);
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
    expect(textIn(await session.log())).toBe('So.');
    expect(model.doStreamCalls).toHaveLength(1);
  });

  it('a stream that stays open behind its finish is not waited for', async () => {
    const { begin, step } = await harnessOf(() => silentAfter(says('So.')));
    expect(await step(await begin(), 1)).toMatchObject({ status: 'completed' });
  });

  it('a stream that reports an error is left, which frees its connection', async () => {
    let isLeft = false;
    const error = new UnsupportedFunctionalityError({ functionality: 'this prompt' });
    const { begin, step } = await harnessOf(async function* () {
      try {
        yield await Promise.resolve<Part>({ type: 'error', error });
      } finally {
        isLeft = true;
      }
    });
    expect(await step(await begin(), 1)).toMatchObject({ status: 'failed' });
    expect(isLeft).toBe(true);
  });

  it.each([{ delta: undefined }, {}])('a delta without a text says nothing: %j', async (fields) => {
    const empty = { type: 'text-delta', id: 't', ...fields } as unknown as Part;
    const { begin, step, session } = await harnessOf(() => [
      ...text('So.', 't').slice(0, -1),
      empty,
      ...finish(),
    ]);
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
    const { begin, step, session, record } = await harnessOf(() => [
      ...text('So'),
      { type: 'error', error },
    ]);
    const outcome = await step(await begin(), 1);
    expect(outcome).toMatchObject({ error: { code: 'provider_invalid_request' } });
    const stored = await record();
    expect(JSON.stringify([outcome, stored, await session.log()])).not.toContain('sk-secret');
  });
});
