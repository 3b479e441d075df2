import { equal, includes } from '../assertions.js';
import { textChunk, textIn } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { writerOf } from './writer-of.js';

export function batchCases({ describe, it }: Suite): void {
  describe('the log under stream writers', () => {
    it('a repeated batch is stored once, also after a pause', async ({
      streamManager,
      streamId,
    }) => {
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      const chunks = [textChunk('a'), textChunk('b')];
      const first = await streamManager.append(writer, 1, chunks);
      equal(await streamManager.append(writer, 1, chunks), first);
      await streamManager.mark(streamId, { status: 'paused' }, 1);
      equal(await streamManager.append(writer, 1, chunks), first);
      equal(await streamManager.append(writer, 2, chunks), { kind: 'closed' });
      equal(textIn(await streamManager.read(streamId, 0, 10)), 'ab');
    });

    it('a writer that is opened again is the same writer', async ({ streamManager, streamId }) => {
      const writer = writerOf(streamId, 1);
      equal(await streamManager.openWriter(writer, 'n', 1), { kind: 'opened', sequence: 0 });
      await streamManager.append(writer, 1, [textChunk('a')]);
      equal(await streamManager.openWriter(writer, 'n', 1), { kind: 'opened', sequence: 1 });
      includes(await streamManager.append(writer, 2, [textChunk('b')]), { sequence: 2 });
      equal(textIn(await streamManager.read(streamId, 0, 10)), 'ab');
    });

    it('entries are numbered explicitly: a withdrawn number is never reused', async ({
      streamManager,
      streamId,
    }) => {
      await streamManager.openWriter(writerOf(streamId, 1), 'n', 1);
      await streamManager.append(writerOf(streamId, 1), 1, [textChunk('a'), textChunk('b')]);
      equal(await streamManager.openWriter(writerOf(streamId, 2), 'n', 1), {
        kind: 'opened',
        sequence: 4,
      });
      await streamManager.append(writerOf(streamId, 2), 1, [textChunk('c')]);
      equal(
        (await streamManager.read(streamId, 0, 10)).map(({ sequence }) => sequence),
        [3, 4, 5],
      );
    });

    it('a fenced writer is refused before the pause is checked, and a gap in the batches is refused', async ({
      streamManager,
      streamId,
    }) => {
      await streamManager.openWriter(writerOf(streamId, 1), 'n', 1);
      await streamManager.openWriter(writerOf(streamId, 2), 'n', 1);
      await streamManager.mark(streamId, { status: 'paused' }, 1);
      const append = (token: number, batch: number, known?: number) =>
        streamManager.append(writerOf(streamId, token), batch, [textChunk('x')], known);
      equal(await append(1, 1), { kind: 'fenced' });
      equal(await append(2, 2), { kind: 'rewound' });
      equal(await append(2, 1, 99), { kind: 'rewound' });
      equal(await append(2, 1), { kind: 'closed' });
      equal(await streamManager.closeWriter(writerOf(streamId, 1)), { kind: 'fenced' });
      equal(await streamManager.closeWriter(writerOf(streamId, 2)), { kind: 'closed' });
    });

    it('reads are by position: exclusive start, limited length, nothing beyond the end', async ({
      streamManager,
      streamId,
    }) => {
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      await streamManager.append(
        writer,
        1,
        ['a', 'b', 'c', 'd'].map((text) => textChunk(text)),
      );
      const textAt = async (from: number, limit: number): Promise<string> =>
        textIn(await streamManager.read(streamId, from, limit));
      equal(await textAt(0, 2), 'ab');
      equal(await textAt(2, 10), 'cd');
      equal(await textAt(4, 10), '');
      equal(await textAt(99, 10), '');
      equal(await streamManager.read('no-such-stream', 0, 10), []);
    });
  });
}
