import { LIMITS } from '../../protocol/limits.js';
import type { StreamChunk } from '../../protocol/chunk.js';
import { equal, includes, refuses } from './assertions.js';
import { AGENT, server, textChunk, userMessage } from './fixtures.js';
import type { Case, Suite } from './suite.js';

const BAD_IDS: unknown[] = [
  '',
  'a b',
  'a{b}',
  'a\r\nb',
  'a:b',
  'a/b',
  '../a',
  'ü',
  'a'.repeat(129),
  'a.b',
  undefined,
  null,
  7,
  {},
];
const BAD_COUNTS: unknown[] = [-1, NaN, 1.5, Infinity, '1', null, 2 ** 60];
const NO_CHUNKS = [
  {},
  { type: 'text_delta' },
  { ...textChunk('x'), type: 'nonsense' },
  { ...textChunk('x'), delta: 7 },
  { ...textChunk('x'), step: -1 },
  { ...textChunk('x'), step: 1.5 },
  { ...textChunk('x'), timestamp: 'now' },
  { ...textChunk('x'), agentId: undefined },
  null,
  'text',
] as unknown as StreamChunk[];
const OVERSIZED = textChunk('ü'.repeat(LIMITS.chunkBytes / 2));

export function badInputCases({ describe, it }: Suite): void {
  describe('bad input', () => {
    it('malformed chunks are refused without using up a sequence', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (const chunk of NO_CHUNKS) await refuses(writer.write(chunk), 'invalid_chunk');
      await refuses(writer.write(OVERSIZED), 'chunk_too_large');
      await writer.write(textChunk('good'));
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 1, totalChunks: 1 });
    });

    it('one bad chunk refuses the whole batch, whose number stays free', async (setup) => {
      const { streamManager, session } = setup;
      const { writer } = await session.claimed();
      for (const chunk of NO_CHUNKS) {
        await refuses(streamManager.append(writer, 1, [textChunk('a'), chunk]), 'invalid_chunk');
      }
      const tooLarge = streamManager.append(writer, 1, [textChunk('a'), OVERSIZED]);
      await refuses(tooLarge, 'chunk_too_large');
      includes(await session.say(writer, 1, 'good'), { kind: 'appended', sequence: 1 });
    });

    it('a chunk of exactly the size limit is accepted', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const room = LIMITS.chunkBytes - Buffer.byteLength(JSON.stringify(textChunk('')));
      await writer.write(textChunk('x'.repeat(room)));
      await refuses(writer.write(textChunk('x'.repeat(room + 1))), 'chunk_too_large');
    });

    it('a commit or a result with a bad chunk changes nothing', async ({ store, session }) => {
      const { runId, writer } = await session.claimed();
      const before = await session.view();
      const calls = [server('s')];
      for (const chunk of NO_CHUNKS) {
        await refuses(session.commit(writer, { calls, chunks: [chunk] }), 'invalid_chunk');
      }
      await refuses(session.commit(writer, { calls, chunks: [OVERSIZED] }), 'chunk_too_large');
      equal(await session.view(), before);
      await session.commit(writer, { calls });
      await session.start(runId, 1, 's');
      const settle = {
        source: 'tool' as const,
        writer: session.callWriter(runId, 1, 's', 1),
        toolCallId: 's',
        row: { role: 'tool' as const, toolCallId: 's', toolName: 't', output: 1 },
        now: 1,
      };
      await refuses(
        store.calls.settle({ ...settle, chunks: NO_CHUNKS.slice(1, 2) }),
        'invalid_chunk',
      );
      includes(await session.call('s'), { state: 'started' });
    });

    it('malformed stream ids are refused', async (setup) => {
      for (const id of BAD_IDS as string[]) {
        for (const work of streamWork(setup, id)) await refuses(work(), 'validation_error');
      }
    });

    it('malformed session ids are refused', async (setup) => {
      for (const id of BAD_IDS as string[]) {
        for (const work of sessionWork(setup, id)) await refuses(work(), 'validation_error');
      }
    });

    it('malformed names and attempts of writers are refused', async (setup) => {
      const { streamManager, streamId } = setup;
      const open = (options: object): Promise<unknown> =>
        streamManager.createWriter(streamId, 'a', AGENT, options);
      for (const attempt of [0, ...BAD_COUNTS])
        await refuses(open({ attempt }), 'validation_error');
      for (const name of ['', 'n'.repeat(LIMITS.idChars + 1), 7, null]) {
        await refuses(open({ name }), 'validation_error');
      }
      for (const agent of ['', 7, undefined] as string[]) {
        await refuses(streamManager.createWriter(streamId, agent, AGENT), 'validation_error');
        await refuses(streamManager.createWriter(streamId, 'a', agent), 'validation_error');
      }
      equal(await streamManager.getStreamInfo(streamId), null);
    });

    it('malformed positions, steps and pages are refused', async (setup) => {
      const { store, streamManager, session } = setup;
      await session.asked();
      for (const count of BAD_COUNTS as number[]) {
        for (const work of [
          () => streamManager.createResumableReader(session.id, { fromSequence: count }),
          () => streamManager.getChunksFromSequence(session.id, count),
          () => streamManager.getChunksFromStep(session.id, count),
          () => streamManager.cleanupToStep(session.id, count),
          () => streamManager.cleanupToStep(session.id, 1, { minSequence: count }),
          () => store.documents.messages(session.id, { offset: count }),
          () => store.documents.messages(session.id, { limit: count }),
          () => store.checkpoints.list(session.id, { limit: count }),
          () => store.documents.save(session.id, { customState: {}, version: count }),
        ]) {
          await refuses(work(), 'validation_error');
        }
      }
    });
  });
}

function streamWork({ streamManager }: Case, id: string): (() => Promise<unknown>)[] {
  return [
    () => streamManager.createWriter(id, 'a', AGENT),
    () => streamManager.createReader(id),
    () => streamManager.createResumableReader(id),
    () => streamManager.endStream(id),
    () => streamManager.failStream(id, 'x'),
    () => streamManager.pauseStream(id),
    () => streamManager.resumeStream(id),
    () => streamManager.getStreamInfo(id),
    () => streamManager.getAllChunks(id),
    () => streamManager.getChunksFromStep(id, 1),
    () => streamManager.getChunksFromSequence(id, 0),
    () => streamManager.cleanupToStep(id, 1),
  ];
}

function sessionWork({ store }: Case, id: string): (() => Promise<unknown>)[] {
  const begin = { agent: AGENT, owner: 'ann', nonce: 'n', messages: [userMessage('u1')], now: 1 };
  return [
    () => store.runs.begin({ sessionId: id, ...begin }),
    () => store.documents.load(id),
    () => store.documents.save(id, { customState: {}, version: 0 }),
    () => store.documents.messages(id),
    () => store.runs.current(id),
    () => store.runs.list(id),
    () => store.runs.read(id, 'r'),
    () => store.checkpoints.get(id, 'cpv1-x'),
    () => store.checkpoints.latest(id),
    () => store.checkpoints.list(id),
    () => store.staging.stage(id, 's1', { toolCallId: 'a', patches: [] }),
    () => store.staging.promote(id, 's1'),
    () => store.staging.discard(id, 's1'),
    () => store.calls.pending(id),
    () => store.calls.suspension(id),
    () => store.runs.interruption(id),
    () => store.sessions.erase(id),
  ];
}
