import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { createScriptedModel } from '../../agents/index.js';
import { fromScript, fromUser, readParts, readText, select, toDeltas } from './streams.js';

const model = createScriptedModel();

/** The same turn, after the model's first calls. */
function afterCalls(prompt: LanguageModelV4Prompt, calls: number): LanguageModelV4Prompt {
  const reply: LanguageModelV4Prompt = [
    { role: 'assistant', content: [{ type: 'text', text: 'answered' }] },
    { role: 'tool', content: [] },
  ];
  return [...prompt, ...Array.from({ length: calls }, () => reply).flat()];
}

describe('the scripted model', () => {
  it('the scripted model streams complete parts in a provider’s order', async () => {
    const parts = await readParts(
      model,
      fromScript({
        think: 'hm',
        say: 'abcd',
        deltas: 2,
        calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 }, argDeltas: 3 }],
      }),
    );
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'response-metadata',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-delta',
      'text-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-delta',
      'tool-input-delta',
      'tool-input-end',
      'tool-call',
      'finish',
    ]);
    expect(toDeltas(parts)).toEqual(['ab', 'cd']);
    const input = '{"amount":5}';
    expect(select(parts, 'tool-call')).toEqual([
      { type: 'tool-call', toolCallId: 'c1', toolName: 'charge', input },
    ]);
    expect(
      select(parts, 'tool-input-delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe(input);
    const [finish] = select(parts, 'finish');
    expect(finish?.finishReason).toEqual({ unified: 'tool-calls', raw: 'tool_calls' });
    expect(finish?.usage.inputTokens.total).toBeGreaterThan(0);
    expect(finish?.usage.outputTokens).toEqual({ total: 5, text: 4, reasoning: 1 });
  });

  it('the scripted model performs entry k in call k of the turn, then finishes', async () => {
    const { prompt } = fromScript({ say: 'one' }, { say: 'two' });
    const texts = [0, 1, 2, 3].map((calls) =>
      readText(model, { prompt: afterCalls(prompt, calls) }),
    );
    expect(await Promise.all(texts)).toEqual(['one', 'two', 'done', 'done']);
  });

  it('the scripted model begins again with the newest user message', async () => {
    const first = afterCalls(fromScript({ say: 'one' }).prompt, 3);
    const prompt = [...first, ...fromScript({ say: 'new' }).prompt];
    expect(await readText(model, { prompt })).toBe('new');
  });

  it('the scripted model invents ids, streams no input on request, and submits a result last', async () => {
    const parts = await readParts(
      model,
      fromScript({ finish: { answer: 42 }, calls: [{ tool: 'echo', argDeltas: 0 }] }),
    );
    const [echo, finish] = select(parts, 'tool-call');
    expect(echo).toMatchObject({ toolName: 'echo', input: '{}' });
    expect(finish).toMatchObject({ toolName: '__finish__', input: '{"answer":42}' });
    expect(echo?.toolCallId).not.toBe(finish?.toolCallId);
    expect(select(parts, 'tool-input-start')).toHaveLength(1);
  });

  it('the scripted model streams no text when the entry has none', async () => {
    const parts = await readParts(model, fromScript({}));
    expect(parts.map(({ type }) => type)).toEqual(['stream-start', 'response-metadata', 'finish']);
    expect(select(parts, 'finish')[0]?.finishReason.unified).toBe('stop');
  });

  it('the scripted model stamps each delta with the wall-clock time', async () => {
    const before = Date.now() - 50;
    const deltas = toDeltas(
      await readParts(model, fromScript({ stamp: true, deltas: 4, everyMs: 10 })),
    );
    expect(deltas).toHaveLength(4);
    for (const delta of deltas) expect(delta).toMatch(/^\d{13}\.\d{3} $/);
    const times = deltas.map(Number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(before);
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(29);
  });

  it('the scripted model quotes the conversation that it gets', async () => {
    const prompt: LanguageModelV4Prompt = [
      { role: 'system', content: 'Be good.' },
      ...fromUser('hello'),
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hidden' },
          { type: 'text', text: 'hi' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'echo', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'echo',
            output: { type: 'json', value: { value: 1 } },
          },
        ],
      },
      ...fromScript({ quote: true, deltas: 3 }).prompt,
    ];
    expect(JSON.parse(await readText(model, { prompt }))).toEqual([
      { role: 'system', text: 'Be good.' },
      { role: 'user', text: 'hello' },
      { role: 'assistant', text: 'hi' },
      { role: 'tool', text: '{"value":1}' },
      { role: 'user', text: '{"script":[{"quote":true,"deltas":3}]}' },
    ]);
  });

  it.each(['hello there', '{"script": 5}', '{ no json', '[1]', ''])(
    'the scripted model answers %j with a reply that quotes it',
    async (text) => {
      const reply = await readText(model, { prompt: fromUser(text) });
      expect(reply).toContain(text.trim());
      expect(reply).not.toBe('');
    },
  );

  it('the scripted model returns the whole reply from doGenerate as well', async () => {
    const call = { tool: 'echo', id: 'c1', args: { value: 1 } };
    const result = await model.doGenerate(
      fromScript({ think: 'hm', say: 'abc', deltas: 3, calls: [call] }),
    );
    expect(result.content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'abc' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'echo', input: '{"value":1}' },
    ]);
    expect(result.finishReason.unified).toBe('tool-calls');
  });

  it.each([
    [{ say: 5 }, 'script[0].say'],
    [{ deltas: 0 }, 'script[0].deltas'],
    [{ deltas: 1e9 }, 'script[0].deltas'],
    [{ calls: [{ id: 'c1' }] }, 'script[0].calls[0].tool'],
    [{ fail: { status: 200 } }, 'script[0].fail.status'],
    [{ attempts: [{ say: 1 }] }, 'script[0].attempts[0].say'],
    ['say', 'script[0]'],
  ])('the scripted model refuses the entry %j', async (entry, place) => {
    const error: unknown = await model
      .doStream(fromScript(entry))
      .then(undefined, (e: unknown) => e);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
    expect((error as Error).message).toContain(`${place}: `);
  });
});
