import type { ModelMessage } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import fc from 'fast-check';
import {
  chooseCut,
  compaction,
  estimateTokens,
  partsOf,
  writeRequest,
  type CompactionSettings,
} from '../../../extensions/compaction/index.js';
import type { MadeCompaction, PrepareStepOptions } from '../../../agents/index.js';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const calls = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: ids.map((toolCallId) => ({
    type: 'tool-call',
    toolCallId,
    toolName: 'look',
    input: { q: 'x'.repeat(40) },
  })),
});
const results = (...ids: string[]): ModelMessage => ({
  role: 'tool',
  content: ids.map((toolCallId) => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'look',
    output: { type: 'text', value: 'y'.repeat(40) },
  })),
});
const byProvider = (id: string, hasResult: boolean): ModelMessage => ({
  role: 'assistant',
  content: [
    { type: 'tool-call', toolCallId: id, toolName: 's', input: {}, providerExecuted: true },
    ...(hasResult
      ? [
          {
            type: 'tool-result' as const,
            toolCallId: id,
            toolName: 's',
            output: { type: 'text' as const, value: 'found' },
          },
        ]
      : []),
  ],
});
const late = (id: string): ModelMessage => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'found' },
    {
      type: 'tool-result',
      toolCallId: id,
      toolName: 's',
      output: { type: 'text', value: 'late' },
    },
  ],
});
const count = (messages: readonly ModelMessage[]): number => messages.length;

/** Returns the ids of calls and results on both sides of a cut. */
function split(messages: readonly ModelMessage[], at: number): string[] {
  const ids = (side: readonly ModelMessage[]) =>
    new Set(
      side.flatMap((m) => partsOf(m).flatMap((p) => ('toolCallId' in p ? [p.toolCallId] : []))),
    );
  const after = ids(messages.slice(at));
  return [...ids(messages.slice(0, at))].filter((id) => after.has(id));
}

describe('the place of a cut', () => {
  it('is never between a call and its result, however late', () => {
    const turn = fc.constantFrom<((id: string) => ModelMessage[])[]>(
      (id: string) => [user(id)],
      (id: string) => [calls(id), results(id)],
      (id) => [calls(id, `${id}b`), results(`${id}b`, id)],
      (id) => [byProvider(id, true)],
      (id) => [byProvider(id, false), calls(`${id}c`), results(`${id}c`), late(id)],
    );
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 12 }), fc.nat(20), fc.nat(5), (turns, keep, skip) => {
        const messages = turns.flatMap((make, n) => make(`c${String(n)}`));
        const from = chooseCut(messages, 0, messages.length - skip, count);
        const cut = chooseCut(messages, from, keep, count);
        expect(cut).toBeGreaterThanOrEqual(from);
        expect(cut === 0 || cut < messages.length).toBe(true);
        expect(split(messages, cut)).toEqual([]);
        if (cut > from) expect(messages[cut]?.role).not.toBe('tool');
      }),
    );
  });

  it('leaves a call that waits for its result among the newest messages', () => {
    const waiting = [
      user('a'),
      calls('c1'),
      results('c1'),
      byProvider('p1', false),
      calls('c2'),
      results('c2'),
    ];
    expect(chooseCut(waiting, 0, 1, count)).toBe(3);
    // The waiting call never gets a result now.
    expect(chooseCut([...waiting, user('b'), late('x')], 0, 1, count)).toBe(7);
  });

  it('keeps as much as fits, and at least the newest messages', () => {
    const messages = [user('a'), calls('c1'), results('c1'), user('b'), calls('c2'), results('c2')];
    expect([5, 4, 3, 2, 1].map((keep) => chooseCut(messages, 0, keep, count))).toEqual([
      1, 3, 3, 4, 4,
    ]);
    expect(chooseCut(messages, 4, 1, count)).toBe(4);
  });
});

it('tokens of files do not depend on their size', () => {
  const file = (data: string): ModelMessage[] => [
    { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data }] },
  ];
  expect(estimateTokens(file('a'.repeat(1_000_000)))).toBe(estimateTokens(file('a')));
  expect(estimateTokens(file('a'))).toBeGreaterThan(1_000);
});

it('what is summarised fits its limit, names each speaker, and holds nothing that a model thought', () => {
  const thought: ModelMessage = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'secret' },
      { type: 'text', text: 'It is fine.' },
    ],
  };
  const text = writeRequest([user('a'), calls('c1'), results('c1'), thought], 'before', 10_000);
  expect(text).toContain('<notes>\nbefore\n</notes>');
  expect(text).toMatch(/user: a\nCall: look\(.*\)\nResult of look: y+\nassistant: It is fine\./);
  expect(text).not.toContain('secret');
  const long = Array.from({ length: 1_000 }, () => user('🎉'.repeat(5_000)));
  expect(writeRequest(long, undefined, 10_001).length).toBeLessThan(10_100);
  expect(writeRequest(long, undefined, 10_001).isWellFormed()).toBe(true);
});

/** Returns long turns, each of about 30 tokens. */
const long = (turns: number): ModelMessage[] =>
  Array.from({ length: turns }, (_, n) => [
    user(`question ${String(n)} ${'q'.repeat(40)}`),
    calls(`c${String(n)}`),
    results(`c${String(n)}`),
  ]).flat();

/** Prepares one model call with a record that keeps the summary. */
async function prepare(
  config: CompactionSettings,
  messages: ModelMessage[],
  kept?: { messages: number; summary: string },
) {
  const made: MadeCompaction[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: 'text', text: 'by the model of the agent' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage: {
        inputTokens: { total: 9, noCache: 9, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 4, text: 4, reasoning: undefined },
      },
      warnings: [],
    },
  });
  const prepared = await compaction(config)({
    messages,
    model,
    sessionId: 's',
    compaction: {
      kept,
      keep: async (make: Parameters<PrepareStepOptions['compaction']['keep']>[0]) => {
        const given = await Promise.resolve(make(new AbortController().signal)).catch(
          () => undefined,
        );
        if (given === undefined || 'failure' in given) return undefined;
        made.push(given);
        return given;
      },
    },
  } as unknown as PrepareStepOptions);
  return { prepared, made, model };
}

describe('compaction', () => {
  it('leaves a conversation alone that fits', async () => {
    const { prepared, made } = await prepare({ maxTokens: 10_000 }, long(10));
    expect([prepared, made]).toEqual([undefined, []]);
  });

  it('has the model of the agent write the summary, and gives it the newest messages', async () => {
    const messages = long(20);
    const { prepared, made, model } = await prepare({ maxTokens: 400 }, messages);
    const [first, ...rest] = prepared?.messages ?? [];
    expect(first).toMatchObject({ role: 'user', providerOptions: { helix: { internal: true } } });
    expect(JSON.stringify(first)).toContain('by the model of the agent');
    expect(rest).toEqual(messages.slice(made[0]?.messages));
    expect(estimateTokens(rest)).toBeLessThanOrEqual(100);
    expect(made).toMatchObject([{ usage: { inputTokens: 9, outputTokens: 4 } }]);
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('question 0');
    expect(model.doGenerateCalls[0]).toMatchObject({ maxOutputTokens: 2_000 });
  });

  it('gives a summary on to the next one, and never the same messages again', async () => {
    const asked: { first: unknown; previous: unknown }[] = [];
    const summarize: CompactionSettings['summarize'] = ({ messages, previous }) => {
      asked.push({ first: messages[0], previous });
      return 'newer';
    };
    const messages = long(40);
    await prepare({ maxTokens: 400, summarize }, messages, { messages: 9, summary: 'older' });
    expect(asked).toEqual([{ first: messages[9], previous: 'older' }]);
    // With the summary kept earlier, the prompt fits.
    const fitting = { messages: 111, summary: 'older' };
    const { prepared, made } = await prepare({ maxTokens: 400, summarize }, messages, fitting);
    expect(prepared?.messages).toHaveLength(10);
    expect(made).toEqual([]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no'))],
    ['is empty', () => ' '],
    ['is no text', () => 7 as unknown as string],
  ])('gives all messages if the summary %s, or only the newest', async (_how, summarize) => {
    const messages = long(20);
    const full = await prepare({ maxTokens: 400, summarize }, messages);
    expect(full.prepared).toBeUndefined();
    const fallback = 'truncate' as const;
    const cut = await prepare({ maxTokens: 400, summarize, fallback }, messages);
    expect(JSON.stringify(cut.prepared?.messages?.[0])).toContain('left out');
    expect(cut.prepared?.messages?.at(-1)).toEqual(messages.at(-1));
    expect(estimateTokens(cut.prepared?.messages ?? [])).toBeLessThan(200);
  });

  it('tries a summary that failed again only when the conversation has grown', async () => {
    let asked = 0;
    const summarize = (): Promise<string> => Promise.reject(new Error(String((asked += 1))));
    const step = compaction({ maxTokens: 400, summarize });
    const keep = (make: (signal: AbortSignal) => unknown) =>
      Promise.resolve(make(new AbortController().signal)).then(
        () => undefined,
        () => undefined,
      );
    for (const turns of [20, 20, 21, 25, 25]) {
      const options = {
        messages: long(turns),
        sessionId: 's',
        compaction: { kept: undefined, keep },
      };
      await step(options as unknown as PrepareStepOptions);
    }
    expect(asked).toBe(2);
  });

  it.each([
    [{}, 'compaction: maxTokens is missing; it must be a whole number above 0'],
    [{ maxTokens: 0 }, 'maxTokens must be a whole number above 0, not 0'],
    [{ maxTokens: 10, keepTokens: 10 }, 'compaction: keepTokens must be below maxTokens'],
    [{ maxTokens: 10, fallback: 'none' }, `fallback must be 'full' or 'truncate', not "none"`],
    [{ maxTokens: 10, keepSteps: 1 }, 'it has no field "keepSteps"'],
  ])('refuses %j', (config, message) =>
    expect(() => compaction(config as CompactionSettings)).toThrow(message),
  );
});
