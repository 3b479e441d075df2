import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import fc from 'fast-check';
import { createReplyFold } from '../../protocol/reply-fold.js';
import { createStepReply } from '../../activities/model/step-reply.js';
import type { StepReply } from '../../activities/model/reply-types.js';
import { startOf } from '../../activities/model/call-ids.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { toCheckedJson } from '../../store/record/stored-json.js';
import { createHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { openTestStores } from '../support/test-stores.js';

type Part = LanguageModelV4StreamPart;

const [HIGH, LOW] = ['\ud83d', '\ude42'];
/** A text of any units, cut anywhere. */
const Deltas = fc.array(
  fc
    .array(fc.constantFrom('a', HIGH, LOW, '🙂', 'é', '\u0000'), { maxLength: 4 })
    .map((units) => units.join('')),
  { maxLength: 8 },
);

function hear(stream: Part[]): { reply: StepReply; chunks: StreamChunk[] } {
  const reply = createStepReply({ agentId: 's', agentType: 'a', step: 1 }, new Set(), () => 1);
  return { reply, chunks: stream.flatMap((part) => reply.accept(part)) };
}

/** The text, the reasoning and the arguments of each call in the chunks. */
function toldBy(chunks: readonly StreamChunk[]): Record<string, string> {
  const shown: Record<string, string> = {};
  const add = (key: string, text: string): void => {
    expect(text.isWellFormed()).toBe(true);
    shown[key] = (shown[key] ?? '') + text;
  };
  for (const chunk of chunks) {
    if (chunk.type === 'text_delta') add('text', chunk.delta);
    if (chunk.type === 'thinking') add('reasoning', chunk.content);
    if (chunk.type === 'tool_arg_stream_delta') add(chunk.toolCallId, chunk.delta);
  }
  return shown;
}

/** The same of the reply that will be stored. */
function keptBy({ fold }: Pick<StepReply, 'fold'>): Record<string, string> {
  const kept: Record<string, string> = Object.fromEntries(fold.argumentText);
  for (const part of fold.parts) {
    if (part.type !== 'text' && part.type !== 'reasoning') continue;
    kept[part.type] = (kept[part.type] ?? '') + part.text;
  }
  return kept;
}

const filled = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

describe('a reply whose provider cuts characters', () => {
  it('a reply whose provider cuts characters is streamed in whole ones, with the same text', () => {
    fc.assert(
      fc.property(Deltas, Deltas, Deltas, (text, reasoning, input) => {
        const { chunks, reply } = hear([
          { type: 'reasoning-start', id: '1' },
          ...reasoning.map((delta): Part => ({ type: 'reasoning-delta', id: '1', delta })),
          { type: 'reasoning-end', id: '1' },
          { type: 'text-start', id: '1' },
          ...text.map((delta): Part => ({ type: 'text-delta', id: '1', delta })),
          { type: 'text-end', id: '1' },
          { type: 'tool-input-start', id: '1', toolName: 't' },
          ...input.map((delta): Part => ({ type: 'tool-input-delta', id: '1', delta })),
          { type: 'tool-input-end', id: '1' },
        ]);
        const whole = (deltas: string[]): string => deltas.join('').toWellFormed();
        const expected = { text: whole(text), reasoning: whole(reasoning), 1: whole(input) };
        expect(filled(toldBy(chunks))).toEqual(filled(expected));
        expect(filled(keptBy(reply))).toEqual(filled(expected));
      }),
    );
  });

  it('a reply is streamed as it is stored, whatever blocks overlap or never end', () => {
    const Delta = fc.oneof(
      fc.record({
        type: fc.constantFrom('text-delta' as const, 'reasoning-delta' as const),
        id: fc.constantFrom('1', '2'),
        delta: fc.constantFrom('a', HIGH, LOW, `b${HIGH}`),
      }),
      fc.record({
        type: fc.constantFrom('text-start', 'text-end', 'reasoning-start', 'reasoning-end'),
        id: fc.constantFrom('1', '2'),
      }) as fc.Arbitrary<Part>,
      fc.record({
        type: fc.constant('tool-input-delta' as const),
        id: fc.constantFrom('c1', 'c2'),
        delta: fc.constantFrom('a', HIGH, LOW),
      }),
    );
    fc.assert(
      fc.property(fc.array(Delta, { maxLength: 30 }), (stream) => {
        const { chunks, reply } = hear([
          { type: 'tool-input-start', id: 'c1', toolName: 't' },
          { type: 'tool-input-start', id: 'c2', toolName: 't' },
          ...stream,
          ...parts.call('c1', 't', '{}'),
          ...parts.finish(),
        ]);
        const fold = createReplyFold();
        for (const chunk of chunks) fold.accept(chunk);
        expect(filled(keptBy({ fold }))).toEqual(filled(keptBy(reply)));
        for (const chunk of chunks) expect(toCheckedJson([chunk])[0]).toBe(JSON.stringify(chunk));
      }),
    );
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

  it('a reply is stored as it was seen', async () => {
    const stores = await openTestStores();
    const stream: Part[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: `so ${HIGH}` },
      { type: 'reasoning-delta', id: 'r', delta: `${LOW} ${HIGH}` },
      { type: 'reasoning-end', id: 'r' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: `say ${HIGH}` },
      { type: 'text-delta', id: 't', delta: `${LOW} and ${LOW}` },
      ...parts.finish(),
    ];
    const harness = createHarness(stores, { model: fakeModel(sayInTurn(stream)) });
    await harness.step(await harness.begin(), 1);
    const chunks = (await harness.session.log()).map(({ message }) => message as StreamChunk);
    const expected = { text: 'say 🙂 and \ufffd', reasoning: 'so 🙂 \ufffd' };
    expect(toldBy(chunks)).toEqual(expected);
    expect((await stores.store.sessions.rows(harness.session.id, 1))[0]).toMatchObject({
      parts: [
        { type: 'reasoning', text: expected.reasoning },
        { type: 'text', text: expected.text },
      ],
    });
  });
});

describe('names and ids', () => {
  it('names and ids are cut between characters', () => {
    expect([3, 4, 5].map((length) => startOf(`ab${HIGH}🙂c`, length))).toEqual([
      'ab\ufffd',
      'ab\ufffd',
      'ab\ufffd🙂',
    ]);
    const { reply } = hear(parts.call('🙂'.repeat(200), `x${'🙂'.repeat(200)}`, {}));
    const [call] = reply.calls;
    expect([call?.toolCallId, call?.toolName].map((name) => name?.isWellFormed())).toEqual([
      true,
      true,
    ]);
    expect([call?.toolCallId.length, call?.toolName.length]).toEqual([248, 255]);
  });
});
