import type { StreamChunk } from '../../../protocol/chunk.js';
import { equal, eventually, includes } from '../assertions.js';
import { AGENT, textChunk, textIn } from '../fixtures.js';
import { HALF } from '../hostile.js';
import type { Suite } from '../suite.js';
import { followLog } from './collect.js';
import { writerOf } from './writer-of.js';

const TEXTS = [
  '',
  'word ',
  'two\nlines',
  '\r\n',
  '["a"]',
  '"',
  '\\n',
  '\u0000',
  '\u2028',
  '🙂',
  '{}',
];

/** Deltas of every kind, by the stream's own agent, by sub-agents of it and by others. */
function deltasOf(streamId: string): StreamChunk[] {
  const agents = [
    streamId,
    `${streamId}.1a`,
    `${streamId}.`,
    `${streamId}x`,
    'agent',
    'another '.repeat(9),
  ];
  return agents.flatMap((agentId) =>
    TEXTS.flatMap((text, n): StreamChunk[] => {
      const base = { agentId, agentType: 'a "b"\n', step: n, timestamp: n + 0.5 };
      return [
        { type: 'text_delta', ...base, delta: text },
        { type: 'thinking', ...base, content: text, isComplete: n % 2 === 0 },
        { type: 'tool_arg_stream_delta', ...base, toolCallId: `c${text}`, delta: text },
      ];
    }),
  );
}

/** Most entries of a log are deltas, so a store may keep them in a form of its own. */
export function deltaCases({ describe, it }: Suite): void {
  describe('deltas', () => {
    it('each is read and followed as it was written', async ({ streamManager, streamId }) => {
      const writer = writerOf(streamId, 1, 'w');
      await streamManager.openWriter(writer, 'n', 1);
      const early = followLog(streamManager, streamId);
      const deltas = deltasOf(streamId);
      await streamManager.append(writer, 1, deltas);
      const expected = deltas.map((message, n) => ({
        sequence: n + 1,
        writer: writer.name,
        message,
      }));
      equal(await streamManager.read(streamId, 0, deltas.length + 1), expected);
      await eventually('they were followed', () => early.entries.length === deltas.length);
      equal(early.entries, expected);
      await early.stop();
    });

    it('a replay reads adjacent ones as one, up to a sequence and no further', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = writerOf(streamId, 1, 'w');
      await streamManager.openWriter(writer, 'n', 1);
      const base = { ...textChunk('', 1, streamId), timestamp: 1_763_841_234_567 };
      const deltas = TEXTS.map((delta) => ({ ...base, delta }));
      await streamManager.append(writer, 1, deltas);
      const upTo = deltas.length - 1;
      const joined = await streamManager.read(streamId, 1, deltas.length, upTo);
      equal(textIn(joined), TEXTS.slice(1, upTo).join(''));
      equal(joined.at(-1)?.sequence, upTo);
    });

    it('what the protocol does not know of a delta is kept', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      const delta = { ...textChunk('a', 1, streamId), language: 'en' };
      await streamManager.append(writer, 1, [delta]);
      equal((await streamManager.read(streamId, 0, 1))[0]?.message, delta);
    });

    it('half a character becomes U+FFFD', async ({ streamManager, streamId }) => {
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      await streamManager.append(writer, 1, [textChunk(`a${HALF}`, 1, streamId)]);
      equal(textIn(await streamManager.read(streamId, 0, 1)), 'a\ufffd');
    });

    it('those of later steps are removed, of one agent if it is named', async (setup) => {
      const { streamManager, streamId } = setup;
      const child = `${streamId}.1a`;
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      const chunks = [streamId, child].flatMap((agent) =>
        [1, 2].map((step) => textChunk(`${String(step)} of ${agent} `, step, agent)),
      );
      await streamManager.append(writer, 1, chunks);
      const text = async (): Promise<string> =>
        textIn(await streamManager.read(streamId, 0, 10)).replaceAll(streamId, 's');
      equal(await streamManager.cleanupToStep(streamId, 1, { agentId: child }), 1);
      equal(await text(), '1 of s 2 of s 1 of s.1a ');
      equal(await streamManager.cleanupToStep(streamId, 1), 1);
      equal(await text(), '1 of s 1 of s.1a ');
    });
  });

  describe('deltas of a lost attempt', () => {
    it('are withdrawn, and charged by their bytes', async ({ store, session, streamManager }) => {
      const { runId, writer: lost } = await session.speaking();
      const base = { agentId: session.id, agentType: AGENT, step: 1, timestamp: 1 };
      await streamManager.append(lost, 1, [
        { type: 'thinking', ...base, content: 'äöü', isComplete: false },
        { type: 'tool_arg_stream_delta', ...base, toolCallId: 'c1', delta: '{"a":1}' },
        { type: 'text_delta', ...base, delta: 'hello, ' },
      ]);
      const writer = session.writer(runId, 1, 2);
      // Four bytes a token.
      includes(await store.steps.claim({ writer, known: 0, now: 1, perToken: 2 }), {
        usage: { inputTokens: 0, outputTokens: 5, costMicroUsd: 10 },
      });
      equal(textIn(await session.log()), '');
    });
  });
}
