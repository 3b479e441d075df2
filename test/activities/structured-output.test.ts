import { z } from 'zod';
import type { AgentDefinition } from '../../agents/index.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { StepRef } from '../../protocol/temporal.js';
import { attemptOf, type ActivityHarness, openHarness } from '../support/activity-harness.js';
import { fakeTool } from '../support/fake-tool.js';
import { parts, type Script } from '../support/fake-model.js';
import { Output } from 'ai';
import { toFinishTool } from '../../activities/model/finish-tool.js';
import { toOutputSchema } from '../../agents/ai-sdk/output-schema.js';

const { text, call, finish, says, asks } = parts;

const echo = fakeTool('echo', () => 'again');
const locate = fakeTool('locate', 'client');
const Answer = z.object({ answer: z.number(), unit: z.string().default('m') });

const harnessOf = (script: Script, outputSchema: z.ZodType = Answer, strictOutput = false) => {
  const more = { outputSchema, llmConfig: { strictOutput } };
  return openHarness(script, { tools: [echo, locate], more });
};

const handIn = (id: string, input: unknown) => call(id, FINISH_TOOL_NAME, input);
const withRef = (given: ActivityHarness, more: Partial<StepRef>, step = 1) =>
  given.begin().then((run) => given.step(run, step, 1, attemptOf(1), more));

describe('an agent with an output schema', () => {
  it.each([
    ['is offered a tool to submit its result', false],
    ['may ask the provider to enforce it', true],
  ])('an agent with an output schema %s', async (_, strict) => {
    const given = await harnessOf(
      () => [...handIn('f', { answer: 1 }), ...finish()],
      Answer,
      strict,
    );
    await given.step(await given.begin(), 1);
    const [asked] = given.model.doStreamCalls;
    expect(asked?.toolChoice).toEqual({ type: 'auto' });
    expect(asked?.tools?.map(({ name }) => name)).toEqual(['echo', 'locate', FINISH_TOOL_NAME]);
    const inputSchema = { type: 'object', properties: { answer: { type: 'number' } } };
    expect(asked?.tools?.[2]).toMatchObject({ inputSchema, ...(strict && { strict }) });
    expect('strict' in (asked?.tools?.[2] ?? {})).toBe(strict);
  });

  it('a run ends with the submitted result, as its schema parses it', async () => {
    const given = await harnessOf(() =>
      asks(
        text('Here.'),
        parts.args('f', FINISH_TOOL_NAME, '{"answer":42}'),
        handIn('f', '{"answer":42}'),
      ),
    );
    const run = await given.begin();
    expect(await given.step(run, 1)).toMatchObject({ kind: 'ended', status: 'completed' });
    const output = { answer: 42, unit: 'm' };
    expect(await given.record()).toMatchObject({ output });
    expect(await given.rows(1)).toMatchObject([
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Here.' },
          { type: 'tool-call', toolCallId: 'f', input: { answer: 42 } },
        ],
      },
      { role: 'tool', toolCallId: 'f', output: { acknowledged: true } },
      { role: 'assistant', display: true, parts: [], output },
    ]);
    const log = await given.session.log();
    const types = log.map(({ message }) => message.type).filter((type) => type !== 'text_delta');
    expect(types).toEqual([
      'step_start',
      'step_end',
      'checkpoint_created',
      'step_committed',
      'output',
      'stream_end',
    ]);
    expect(JSON.stringify(log)).not.toContain(FINISH_TOOL_NAME);
  });

  it.each([
    ['text', z.string(), { result: 'yes' }, 'yes'],
    ['a list', z.array(z.number()), { result: [1, 2] }, [1, 2]],
    [
      'one of several objects',
      z.union([z.object({ a: z.number() }), z.object({ b: z.string() })]),
      { result: { b: 'x' } },
      { b: 'x' },
    ],
    ['null', z.null(), { result: null }, null],
  ])('a model may submit %s, as a field of the call', async (_, schema, input, output) => {
    const given = await harnessOf(() => [...handIn('f', input), ...finish()], schema);
    expect(await given.step(await given.begin(), 1)).toMatchObject({ status: 'completed' });
    expect((await given.record())?.output).toEqual(output);
  });

  it('a run executes the other calls of the step before it ends', async () => {
    const given = await harnessOf(() =>
      asks(call('e', 'echo', {}), handIn('f', { answer: 1 }), call('l', 'locate', {})),
    );
    const run = await given.begin();
    expect(await given.step(run, 1)).toMatchObject({
      kind: 'calls',
      finish: 'valid',
      calls: [{ toolCallId: 'e' }, { toolCallId: 'l', kind: 'client' }],
    });
    await given.tool(run, 1, 'e');
    expect(await given.session.messages('output')).toEqual([]);
    await given.session.answer(run.runId, 'l', { output: 'here' });
    await given.session.end(run.runId, 'completed');
    const rows = await given.rows(2);
    expect(rows).toMatchObject([
      { toolCallId: 'e', output: 'again' },
      { toolCallId: 'f', output: { acknowledged: true } },
      { toolCallId: 'l', output: 'here' },
      { role: 'assistant', display: true, parts: [] },
    ]);
    expect((await given.session.log()).slice(-2).map(({ message }) => message.type)).toEqual([
      'output',
      'stream_end',
    ]);
  });

  it('a run has one result, and the first that fits counts', async () => {
    const given = await harnessOf(() =>
      asks(
        handIn('f1', { answer: 'none' }),
        handIn('f2', { answer: 2 }),
        handIn('f3', { answer: 3 }),
      ),
    );
    expect(await given.step(await given.begin(), 1)).toMatchObject({ status: 'completed' });
    expect(await given.record()).toMatchObject({ output: { answer: 2 } });
    expect(await given.rows(2)).toMatchObject([
      { toolCallId: 'f1', errorCode: 'invalid_output' },
      { toolCallId: 'f2', output: { acknowledged: true } },
      { toolCallId: 'f3', error: 'The result was handed in already.' },
      { display: true, output: { answer: 2 } },
    ]);
  });

  it('a model gets an error for a result that does not fit, and the run fails the third time', async () => {
    const given = await harnessOf((n) =>
      asks(
        n === 2 ? call('e', 'echo', {}) : [],
        handIn(`f${String(n)}`, n === 0 ? '{"answer":' : { answer: 'none' }),
      ),
    );
    const run = await given.begin();
    const ask = (step: number) => given.step(run, step);
    expect(await ask(1)).toMatchObject({ kind: 'calls', finish: 'invalid', calls: [] });
    expect(await ask(2)).toMatchObject({ kind: 'calls', finish: 'invalid' });
    expect(await ask(3)).toMatchObject({ status: 'failed', error: { code: 'invalid_output' } });
    const prompts = given.model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt));
    expect(prompts[1]).toContain('the input is no valid JSON');
    expect(prompts[2]).toContain('answer: Invalid input');
    expect(await given.record()).toMatchObject({ status: 'failed' });
    expect((await given.rows(-3)).slice(-2)).toMatchObject([
      { toolCallId: 'e', errorCode: 'run_failed' },
      { toolCallId: 'f2', errorCode: 'invalid_output' },
    ]);
    expect(await given.session.messages('output')).toEqual([]);
  });

  it('a model that only writes text is asked for the result, and for nothing else', async () => {
    const given = await harnessOf((n) =>
      n === 0 ? says('Forty-two.') : [...handIn('f', { answer: 42 }), ...finish()],
    );
    const run = await given.begin();
    expect(await given.step(run, 1)).toEqual({
      kind: 'calls',
      step: 1,
      calls: [],
      finish: 'missing',
      spent: { tokens: 5 },
      sequence: expect.any(Number),
    });
    expect(await given.step(run, 2)).toMatchObject({ status: 'completed' });
    const asked = given.model.doStreamCalls[1];
    expect(asked?.tools?.map(({ name }) => name)).toEqual([FINISH_TOOL_NAME]);
    expect(asked?.toolChoice).toEqual({ type: 'tool', toolName: FINISH_TOOL_NAME });
    expect(asked?.prompt.slice(-2)).toMatchObject([
      { role: 'assistant' },
      { role: 'user', providerOptions: { helix: { internal: true } } },
    ]);
    expect((await given.rows(1)).map(({ role }) => role)).toEqual([
      'assistant',
      'assistant',
      'tool',
      // The output of the run, for its message.
      'assistant',
    ]);
  });

  it.each([
    ['speaks on', text('No.')],
    ['asks for a tool that it was not offered', call('e', 'echo', {})],
  ])('a run whose model %s when it must submit its result fails', async (_, reply) => {
    const given = await harnessOf(() => [...reply, ...finish()]);
    expect(await withRef(given, { forceFinish: true })).toMatchObject({
      kind: 'ended',
      status: 'failed',
      error: { code: 'output_missing', retryable: true },
    });
  });

  it('a run whose result does not fit beyond the step cap fails', async () => {
    const given = await harnessOf(() => [...handIn('f', {}), ...finish()]);
    expect(await withRef(given, { forceFinish: true, maxSteps: 0 })).toMatchObject({
      status: 'failed',
      error: { code: 'output_missing' },
    });
  });

  it('a run keeps the submitted result when it is stopped while a sibling waits', async () => {
    const given = await harnessOf(() => [
      ...handIn('f', { answer: 1 }),
      ...call('l', 'locate', {}),
      ...finish(),
    ]);
    await given.step(await given.begin(), 1);
    await given.session.stop();
    expect(await given.session.messages('output')).toMatchObject([{ output: { answer: 1 } }]);
  });
});

it('a model without an output schema that submits a result gets an error', async () => {
  const given = await openHarness((n) =>
    n === 0 ? [...handIn('f', { answer: 1 }), ...finish()] : says('ok'),
  );
  expect(await given.play(await given.begin())).toMatchObject({ status: 'completed' });
  expect(JSON.stringify(given.model.doStreamCalls[1]?.prompt)).toContain('There is no tool named');
  expect(await given.session.messages('output')).toEqual([]);
});

it('a recursive result that is no object is offered with the definitions that it refers to', async () => {
  interface Node {
    children: Node[];
  }
  const node: z.ZodType<Node> = z.object({ children: z.lazy(() => z.array(node)) });
  const text: z.ZodType = z.union([z.string(), z.array(z.lazy(() => text))]);
  for (const schema of [
    z.array(node),
    toOutputSchema(Output.object({ schema: z.union([node, z.string()]) }), 'a'),
    toOutputSchema(Output.object({ schema: text }), 'a'),
  ]) {
    const agent = { outputSchema: schema, llmConfig: {} } as AgentDefinition;
    const { tool } = (await toFinishTool(agent)) ?? {};
    const json = JSON.stringify(tool?.inputSchema);
    const refs = [...json.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(refs).not.toEqual([]);
    expect(json).not.toContain('"$ref":"#"');
    for (const ref of refs) expect(tool).toHaveProperty(['inputSchema', ...ref.split('/')]);
  }
});
