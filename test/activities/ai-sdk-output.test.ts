import { Output, tool, ToolLoopAgent } from 'ai';
import { Output as OutputOfSix, ToolLoopAgent as ToolLoopAgentOfSix } from 'ai-v6';
import { z } from 'zod';
import { fromAgent } from '../../agents/index.js';
import { attemptOf } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { serve } from './serve-agent.js';

const { call, says, asks } = parts;
const handsIn = (id: string, input: unknown) => asks(call(id, '__finish__', input));
const schema = z.object({ answer: z.number(), unit: z.string().default('m') });

describe('the output of an agent of the AI SDK', () => {
  it.each([
    [
      '7',
      (model: unknown) =>
        new ToolLoopAgent({ model: model as never, output: Output.object({ schema }) }),
    ],
    [
      '6',
      (model: unknown) =>
        new ToolLoopAgentOfSix({
          model: model as never,
          output: OutputOfSix.object({ schema }) as never,
        }),
    ],
  ])('is the result of the run, as its schema gives it: AI SDK %s', async (_version, make) => {
    const model = fakeModel(
      sayInTurn(handsIn('c1', { answer: 'one' }), handsIn('c2', { answer: 1 })),
    );
    const harness = await serve(make(model));
    const run = await harness.begin();
    expect(await harness.play(run)).toMatchObject({ status: 'completed' });
    // As there, a model without tools of its own is asked for the format, and has no tool.
    expect(model.doStreamCalls[0]?.tools).toBeUndefined();
    expect(model.doStreamCalls[0]?.responseFormat).toMatchObject({
      schema: { properties: { answer: { type: 'number' } } },
    });
    // What does not fit is named to the model.
    expect(JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))).toContain('answer');
    const output = { answer: 1, unit: 'm' };
    expect(await harness.record()).toMatchObject({ output });
  });

  it('may be a list or a choice', async () => {
    for (const [output, input, result] of [
      [Output.array({ element: z.number() }), { elements: [1, 2] }, [1, 2]],
      [Output.choice({ options: ['yes', 'no'] }), { result: 'yes' }, 'yes'],
    ] as const) {
      const model = fakeModel(sayInTurn(handsIn('c1', input)));
      const harness = await serve({ model, output });
      await harness.play(await harness.begin());
      expect(await harness.record()).toMatchObject({
        output: result,
      });
    }
  });

  it.each([
    [Output.object({ schema }), '{"answer":1}', { answer: 1, unit: 'm' }],
    [Output.array({ element: z.number() }), '{"elements":[1,2]}', [1, 2]],
    [Output.choice({ options: ['yes', 'no'] }), ' {"result":"no"}\n', 'no'],
    [Output.json(), '[1]', [1]],
  ])(
    'may be written, in the format that the model is asked for: %#',
    async (output, text, result) => {
      const model = fakeModel(sayInTurn(says(text)));
      const harness = await serve({ model, output });
      expect(await harness.play(await harness.begin())).toMatchObject({ status: 'completed' });
      expect(await harness.record()).toMatchObject({
        output: result,
      });
      expect(model.doStreamCalls[0]?.responseFormat).toEqual(await output.responseFormat);
    },
  );

  it.each([
    ['v4', { type: 'json' }],
    ['v3', undefined],
  ])('may be handed in beside tools: a model of %s', async (version, format) => {
    const model = fakeModel(sayInTurn(handsIn('c1', { answer: 1 })));
    const older = Object.assign(Object.create(model) as object, { specificationVersion: version });
    const look = tool({ inputSchema: z.object({}), execute: () => 1 });
    const settings = { model: older, tools: { look }, output: Output.object({ schema }) };
    const harness = await serve(settings);
    await harness.play(await harness.begin());
    const [asked] = model.doStreamCalls;
    expect(asked?.tools?.map(({ name }) => name)).toEqual(['look', '__finish__']);
    // Packages of AI SDK 6 send both to services that refuse it.
    if (format === undefined) expect(asked?.responseFormat).toBeUndefined();
    else expect(asked?.responseFormat).toMatchObject(format);
  });

  it('is asked for by a call alone where the text does not fit', async () => {
    const model = fakeModel(sayInTurn(says('{"answer":"one"}'), handsIn('c1', { answer: 1 })));
    const harness = await serve({ model, output: Output.object({ schema }) });
    const run = await harness.begin();
    expect(await harness.step(run, 1)).toMatchObject({ kind: 'calls', finish: 'missing' });
    await harness.step(run, 2, 1, attemptOf(1), { forceFinish: true });
    expect(model.doStreamCalls[1]).toMatchObject({
      toolChoice: { type: 'tool', toolName: '__finish__' },
    });
    expect(model.doStreamCalls[1]?.responseFormat).toBeUndefined();
  });

  it('as text demands nothing', () => {
    const settings = { id: 'a', model: 'm', output: Output.text() };
    expect(fromAgent(settings).outputSchema).toBeUndefined();
  });
});
