import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import fc from 'fast-check';
import { readUIMessageStream, type UIMessageChunk } from 'ai';
import { convertToUIMessages, StreamTransformer } from '../../ai-sdk/index.js';
import { createStepReply, type StepReply } from '../../activities/model/step-reply.js';
import { StreamChunkSchema, type StreamChunk } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import { createReplyFold } from '../../protocol/reply-fold.js';
import { toCheckedJson } from '../../store/record/stored-json.js';
import { parts } from '../support/fake-model.js';

type Part = LanguageModelV4StreamPart;

const base = { agentId: 's', agentType: 'a', step: 2 };
const [HIGH, LOW] = ['\ud83d', '\ude42'];

function hear(stream: Part[], used: string[] = []): { reply: StepReply; chunks: StreamChunk[] } {
  const reply = createStepReply(base, new Set(used), () => 1);
  const chunks = stream.flatMap((part) => reply.accept(part));
  for (const chunk of chunks) expect(StreamChunkSchema.safeParse(chunk).success).toBe(true);
  return { reply, chunks };
}

const typesOf = (chunks: StreamChunk[]): string[] => chunks.map(({ type }) => type);

describe('a step reply', () => {
  it('a step reply shows a step with its first output, and not before', () => {
    const silent: Part[] = [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: '' },
    ];
    expect(hear(silent).chunks).toEqual([]);
    expect(hear(silent).reply.begun()).toBe(false);
    const { chunks, reply } = hear([...silent, { type: 'text-delta', id: 't', delta: 'x' }]);
    expect(typesOf(chunks)).toEqual(['step_start', 'text_delta']);
    expect(chunks[0]).toMatchObject({ stepId: 's2', ...base });
    expect(reply.begun()).toBe(true);
  });

  it('a step reply drops empty deltas, and those beyond the limit of arguments', () => {
    const { chunks } = hear([
      { type: 'text-delta', id: 't', delta: '' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: '' },
      { type: 'reasoning-end', id: 'r' },
      ...parts.args('c', 't', ''),
    ]);
    expect(typesOf(chunks)).toEqual(['step_start', 'tool_arg_stream_start']);
    expect(hear(parts.args('c', 't', ' '.repeat(3e6), 'x')).chunks).toHaveLength(3);
  });

  it('a step reply keeps parts that only their provider can read, and shows nothing of them', () => {
    const { chunks, reply } = hear([
      { type: 'custom', kind: 'acme.board', providerMetadata: { acme: { id: 'b' } } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
    ]);
    expect([chunks, reply.begun()]).toEqual([[], false]);
    const image = { type: 'reasoning-file', mediaType: 'image/png' };
    expect(reply.fold.parts).toEqual([
      {
        type: 'reasoning',
        text: '',
        stands: { type: 'custom', kind: 'acme.board' },
        providerMetadata: { acme: { id: 'b' } },
      },
      { type: 'reasoning', text: '', stands: { ...image, url: 'data:image/png;base64,AAAA' } },
    ]);
  });

  it('a step reply makes ids of calls that were used before unique, for deltas and call alike', () => {
    const { chunks, reply } = hear(
      [
        ...parts.args('c1', 't', '{}'),
        ...parts.call('c1', 't', {}),
        ...parts.call('', 't', {}),
        ...parts.call('c2', 't', {}),
        ...parts.call('c2', 't', {}),
      ],
      ['c1', 'c1_1', 'call'],
    );
    expect(reply.calls.map(({ toolCallId }) => toolCallId)).toEqual([
      'c1_2',
      'call_1',
      'c2',
      'c2_1',
    ]);
    const ids = chunks.flatMap((chunk) => ('toolCallId' in chunk ? [chunk.toolCallId] : []));
    expect(ids).toEqual(['c1_2', 'c1_2', 'call_1', 'c2', 'c2_1']);
  });

  it('a step reply announces a call whose arguments were not streamed', () => {
    const { chunks } = hear(parts.call('c1', 't', { a: 1 }));
    expect(typesOf(chunks)).toEqual(['step_start', 'tool_arg_stream_start']);
  });

  it('a step reply shows what the provider executes, and leaves it to the provider', () => {
    const { chunks, reply } = hear([
      { type: 'tool-input-start', id: 'p', toolName: 'search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'p', delta: '{}' },
      {
        type: 'tool-call',
        toolCallId: 'p',
        toolName: 'search',
        input: '{}',
        providerExecuted: true,
      },
    ]);
    expect(chunks.map(({ type }) => type)).toEqual([
      'step_start',
      'tool_arg_stream_start',
      'tool_arg_stream_delta',
      'tool_start',
    ]);
    expect(chunks.at(-1)).toMatchObject({ providerExecuted: true, byProvider: true });
    expect(reply.calls).toEqual([]);
  });

  it('a step reply shows preliminary results of the provider, up to a limit', () => {
    const search = { toolCallId: 'p', toolName: 'search' };
    const early = (chars: number): Part => ({
      type: 'tool-result',
      ...search,
      result: 'x'.repeat(chars),
      preliminary: true,
    });
    const { chunks } = hear([
      { type: 'tool-call', ...search, input: '{}', providerExecuted: true },
      early(LIMITS.preliminaryBytes),
      ...Array.from({ length: 100 }, () => early(LIMITS.preliminaryBytes - 2)),
    ]);
    // The first one is too large by its quotes, and counts all the same.
    const max = LIMITS.callPreliminaryBytes / LIMITS.preliminaryBytes - 2;
    const shown = typesOf(chunks).filter((type) => type === 'tool_output_preliminary');
    expect(shown).toHaveLength(max);
  });

  it('a step reply does not deny a call of ours for which the provider wants an approval', () => {
    const asked: Part = { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c1' };
    const { chunks } = hear([...parts.args('c1', 't', '{}'), asked]);
    expect(typesOf(chunks).at(-1)).toBe('tool_arg_stream_delta');
  });

  it("a step reply has the provider's finish reason", () => {
    expect(hear([]).reply.finish()).toBeUndefined();
    expect(hear(parts.finish('length')).reply.finish()).toEqual({
      reason: 'length',
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    const odd = parts.finish('weird' as 'other');
    expect(hear(odd).reply.finish()?.reason).toBe('other');
  });

  it('a step reply folds from its chunks to the same text, reasoning and calls', () => {
    const { chunks, reply } = hear([
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'think' },
      { type: 'reasoning-end', id: 'r' },
      ...parts.text('one', 't1'),
      ...parts.call('c1', 't', {}),
      ...parts.text('two', 't2'),
    ]);
    const fold = createReplyFold();
    for (const chunk of chunks) fold.accept(chunk);
    expect(fold.parts).toEqual(reply.fold.parts);
    expect(fold.parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool-call', 'text']);
  });
});

type Block = 'text' | 'reasoning';
const opens = (kind: Block, id: string): Part => ({
  type: `${kind}-start`,
  id,
});
const adds = (kind: Block, id: string, delta: string): Part => ({
  type: `${kind}-delta`,
  id,
  delta,
});
const closes = (kind: Block, id: string, of?: string): Part => ({
  type: `${kind}-end`,
  id,
  ...(of !== undefined && { providerMetadata: { acme: { of } } }),
});
const whole = (id: string, text: string): Part[] => [
  opens('text', id),
  adds('text', id, text),
  closes('text', id),
];
const ofAcme = (of: string) => ({ providerMetadata: { acme: { of } } });

/** What a page has of a reply. */
async function shownOf(chunks: StreamChunk[]): Promise<object[]> {
  const transformer = new StreamTransformer();
  const events = [
    ...chunks.flatMap((chunk) => transformer.transform(chunk).events),
    ...transformer.finalize().events,
  ];
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const event of events) controller.enqueue(event);
      controller.close();
    },
  });
  let shown: object[] = [];
  for await (const { parts: all } of readUIMessageStream({ stream })) shown = all;
  return JSON.parse(JSON.stringify(shown)) as object[];
}

function storedOf({ fold }: StepReply): object[] {
  const row = { role: 'assistant' as const, messageId: 'm', runId: 's:1-x', step: 2 };
  const [message] = convertToUIMessages([{ ...row, parts: fold.parts }], {
    unfinishedMessageId: 'm',
  });
  return JSON.parse(JSON.stringify(message?.parts ?? [])) as object[];
}

describe('the blocks of a reply', () => {
  it.each<[string, Part[], object[]]>([
    [
      'two texts that overlap',
      [
        opens('text', 'a'),
        opens('text', 'b'),
        adds('text', 'a', 'One '),
        adds('text', 'b', 'Red '),
        adds('text', 'a', 'two.'),
        adds('text', 'b', 'blue.'),
        closes('text', 'a'),
        closes('text', 'b'),
      ],
      [
        { type: 'text', text: 'One two.' },
        { type: 'text', text: 'Red blue.' },
      ],
    ],
    [
      'a text that speaks before one that began earlier',
      [
        opens('text', 'a'),
        opens('text', 'b'),
        adds('text', 'b', 'second'),
        adds('text', 'a', 'first'),
        closes('text', 'b', 'B'),
        closes('text', 'a'),
      ],
      [
        { type: 'text', text: 'first' },
        { type: 'text', text: 'second', ...ofAcme('B') },
      ],
    ],
    [
      'a text beside reasoning whose signature comes last',
      [
        opens('reasoning', 'r'),
        adds('reasoning', 'r', 'Hm, '),
        opens('text', 't'),
        adds('text', 't', 'Rome '),
        adds('reasoning', 'r', 'yes.'),
        adds('text', 't', 'it is.'),
        closes('reasoning', 'r', 'S'),
        closes('text', 't'),
      ],
      [
        { type: 'reasoning', text: 'Hm, yes.', ...ofAcme('S') },
        { type: 'text', text: 'Rome it is.' },
      ],
    ],
    [
      'blocks that go on behind a call',
      [
        opens('reasoning', 'r'),
        adds('reasoning', 'r', 'Let me '),
        ...parts.call('c1', 't', {}),
        adds('reasoning', 'r', 'look.'),
        closes('reasoning', 'r', 'S'),
      ],
      [
        { type: 'reasoning', text: 'Let me look.', ...ofAcme('S') },
        { type: 'tool-call', toolCallId: 'c1', toolName: 't', input: {}, kind: 'server' },
      ],
    ],
    [
      'a text that goes on behind a call',
      [
        opens('text', 't'),
        adds('text', 't', 'I look.'),
        ...parts.call('c1', 't', {}),
        adds('text', 't', 'Found.'),
        closes('text', 't'),
      ],
      [
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 't', input: {}, kind: 'server' },
        { type: 'text', text: 'Found.' },
      ],
    ],
    [
      'texts that follow each other, each with what is said of it',
      [
        opens('text', 'a'),
        adds('text', 'a', 'One.'),
        closes('text', 'a', 'A'),
        ...parts.text('Two.', 'a'),
        ...parts.text('Three.', 'b'),
      ],
      [
        { type: 'text', text: 'One.', ...ofAcme('A') },
        { type: 'text', text: 'Two.' },
        { type: 'text', text: 'Three.' },
      ],
    ],
    [
      'redacted reasoning beside a text',
      [opens('reasoning', 'r'), closes('reasoning', 'r', 'encrypted'), ...parts.text('Hi.', 't')],
      [
        { type: 'reasoning', text: '', ...ofAcme('encrypted') },
        { type: 'text', text: 'Hi.' },
      ],
    ],
    [
      'blocks that are never closed',
      [
        opens('text', 'a'),
        adds('text', 'a', 'Half \ud83d'),
        opens('reasoning', 'r'),
        ...parts.finish(),
      ],
      [{ type: 'text', text: 'Half \ufffd' }],
    ],
  ])(
    '%s: each delta goes to the block of its id, in the order of their beginning',
    async (_, stream, right) => {
      const { chunks, reply } = hear(stream);
      expect(reply.fold.parts).toEqual(right);
      const isSaid = (part: object): boolean => 'text' in part && part.text !== '';
      const shown = (await shownOf(chunks)).filter((part) => 'text' in part);
      expect(shown).toMatchObject(right.filter(isSaid));
    },
  );

  it('a numbered text is ended, since readers keep it open until then', () => {
    const { chunks } = hear([
      opens('text', 'a'),
      adds('text', 'a', 'One'),
      opens('text', 'b'),
      adds('text', 'b', 'Two'),
      closes('text', 'b'),
    ]);
    expect(chunks.at(-1)).toMatchObject({ type: 'text_delta', delta: '', isComplete: true });
  });

  it('an ordinary reply is written as it always was', () => {
    const { chunks } = hear([
      opens('reasoning', 'r'),
      adds('reasoning', 'r', 'Hm.'),
      closes('reasoning', 'r'),
      ...whole('t', 'Hi.'),
      ...parts.call('c1', 't', {}),
      ...whole('t', 'Bye.'),
      ...parts.finish(),
    ]);
    const own = chunks.map(
      ({ agentId: _a, agentType: _t, step: _s, timestamp: _at, ...rest }) => rest,
    );
    expect(own).toEqual([
      { type: 'step_start', stepId: 's2' },
      { type: 'thinking', content: 'Hm.', isComplete: false },
      { type: 'thinking', content: '', isComplete: true },
      { type: 'text_delta', delta: 'Hi.' },
      { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 't' },
      { type: 'text_delta', delta: 'Bye.' },
    ]);
  });

  it('sources and files keep what their provider says of them, for pages and for the row', async () => {
    const { chunks, reply } = hear([
      { type: 'source', sourceType: 'url', id: 's', url: 'https://a.example', ...ofAcme('U') },
      // Would run in the page of one who clicks on it.
      { type: 'source', sourceType: 'url', id: 'x', url: 'javascript:alert(1)' },
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAAA' },
        ...ofAcme('F'),
      },
    ]);
    expect(reply.fold.parts).toMatchObject([ofAcme('U'), ofAcme('F')]);
    expect((await shownOf(chunks)).slice(1)).toMatchObject([ofAcme('U'), ofAcme('F')]);
  });

  it('what a provider says at length goes back to it, and not to pages', async () => {
    const long = 'x'.repeat(20_000);
    const { chunks, reply } = hear([
      ...parts.text('Hi.', 't').slice(0, 2),
      closes('text', 't', long),
    ]);
    expect(reply.fold.parts).toMatchObject([ofAcme(long)]);
    expect(JSON.stringify([chunks, storedOf(reply)])).not.toContain(long);
  });

  it('half a character waits for the rest in its block, and is replaced where the block ends', () => {
    const { chunks } = hear([
      { type: 'text-delta', id: '1', delta: HIGH },
      { type: 'text-delta', id: '2', delta: `b${HIGH}` },
      { type: 'text-delta', id: '1', delta: LOW },
      { type: 'text-end', id: '2' },
      { type: 'text-delta', id: '3', delta: `c${HIGH}` },
      ...parts.finish(),
    ]);
    const texts = chunks.flatMap((chunk) => (chunk.type === 'text_delta' ? [chunk.delta] : []));
    expect(texts.filter((text) => text !== '')).toEqual(['b', '🙂', '\ufffd', 'c', '\ufffd']);
  });

  it('any blocks in any order are the same for the row, its chunks and pages', async () => {
    const kind = fc.constantFrom<Block>('text', 'reasoning');
    const id = fc.constantFrom('a', 'b', 'c');
    const of = fc.option(fc.constantFrom('X', 'Y'), { nil: undefined });
    const delta = fc.constantFrom('x', 'y ', '', HIGH, LOW, `b${HIGH}`);
    const call = fc.constantFrom('c1', 'c2');
    const step = fc.oneof(
      fc.tuple(kind, id).map(([k, i]) => [opens(k, i)]),
      { weight: 3, arbitrary: fc.tuple(kind, id, delta).map(([k, i, d]) => [adds(k, i, d)]) },
      fc.tuple(kind, id, of).map(([k, i, m]) => [closes(k, i, m)]),
      fc.constant(parts.call('c', 't', {})),
      call.map((c): Part[] => [{ type: 'tool-input-start', id: c, toolName: 't' }]),
      fc
        .tuple(call, delta)
        .map(([c, d]): Part[] => [{ type: 'tool-input-delta', id: c, delta: d }]),
      call.map((c) => parts.call(c, 't', '{}')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const { chunks, reply } = hear([...steps.flat(), ...parts.finish()]);
        const fold = createReplyFold();
        for (const chunk of chunks) fold.accept(chunk);
        for (const chunk of chunks) expect(toCheckedJson([chunk])[0]).toBe(JSON.stringify(chunk));
        expect(fold.argumentText).toEqual(reply.fold.argumentText);
        const isSaid = (part: object): boolean => !('text' in part) || part.text !== '';
        // What comes with the end of a text that a call had ended is for its provider alone.
        const plain = (part: object): object =>
          'type' in part && part.type === 'text' ? { ...part, providerMetadata: 0 } : part;
        expect(fold.parts.filter(isSaid).map(plain)).toEqual(
          reply.fold.parts.filter(isSaid).map(plain),
        );
        const texts = (all: object[]) =>
          all
            .filter((part) => 'text' in part && part.text !== '')
            .map((part) => ({ ...plain(part), id: '' }));
        expect(texts(await shownOf(chunks))).toEqual(texts(storedOf(reply)));
      }),
      { numRuns: 200 },
    );
  });

  it('the pieces of a character that its provider cuts are one again', () => {
    const units = fc.array(fc.constantFrom('a', HIGH, LOW, '🙂', 'é', '\u0000'), { maxLength: 4 });
    const deltas = fc.array(
      units.map((cut) => cut.join('')),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(deltas, deltas, deltas, (text, thought, input) => {
        const { reply } = hear([
          ...thought.map((delta) => adds('reasoning', '1', delta)),
          closes('reasoning', '1'),
          ...text.map((delta) => adds('text', '1', delta)),
          closes('text', '1'),
          ...parts.args('1', 't', ...input),
          { type: 'tool-input-end', id: '1' },
        ]);
        const { parts: told, argumentText } = reply.fold;
        const of = (type: string) =>
          told.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
        const made = [of('text'), of('reasoning'), argumentText.get('1') ?? ''];
        expect(made).toEqual([text, thought, input].map((all) => all.join('').toWellFormed()));
      }),
    );
  });
});

describe('names and ids', () => {
  it('an id that another call of the session has is given to no call of the reply', async () => {
    const { reply } = hear([]);
    await reply.nameCall('a', (wanted) => Promise.resolve(`${wanted}_7`));
    const calls = [...parts.call('a', 't', {}), ...parts.call('a', 't', {})];
    for (const part of calls) reply.accept(part);
    expect(reply.calls.map(({ toolCallId }) => toolCallId)).toEqual(['a_7', 'a_1']);
  });

  it('names and ids are cut between characters', () => {
    const { reply } = hear(parts.call('🙂'.repeat(200), `x${'🙂'.repeat(200)}`, {}));
    const [call] = reply.calls;
    expect([call?.toolCallId, call?.toolName].map((name) => name?.isWellFormed())).toEqual([
      true,
      true,
    ]);
    expect([call?.toolCallId.length, call?.toolName.length]).toEqual([248, 255]);
  });
});
