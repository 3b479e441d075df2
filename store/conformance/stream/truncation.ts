import { ok } from 'node:assert/strict';
import { StreamTruncatedError } from '../../../protocol/errors.js';
import { equal, includes, refuses, eventually } from '../assertions.js';
import { AGENT, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { collect } from './collect.js';
import { readerOf } from './readers.js';

/** Writes two chunks each of steps 1, 2 and 3. */
async function threeSteps({ streamManager, streamId }: Case) {
  const writer = await streamManager.createWriter(streamId, 'a', AGENT);
  for (const step of [1, 1, 2, 2, 3, 3]) await writer.write(textChunk(`${String(step)} `, step));
  return writer;
}

export function truncationCases({ describe, it }: Suite): void {
  describe('cleanupToStep', () => {
    it('chunks of later steps are removed and counted', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await threeSteps(setup);
      equal(await streamManager.cleanupToStep(streamId, 1), 4);
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 ');
      equal(await streamManager.cleanupToStep(streamId, 1), 0);
      await writer.write(textChunk('2b', 2));
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 2b');
      const info = await streamManager.getStreamInfo(streamId);
      equal(info?.totalChunks, 3);
      ok((info?.latestSequence ?? 0) > 6);
    });

    it('attached readers are informed once, later ones are not', async (setup) => {
      const { streamManager, streamId, another } = setup;
      const writer = await threeSteps(setup);
      const readers = [
        collect(await readerOf(setup)),
        collect(await readerOf({ ...setup, ...(await another()) })),
      ];
      await eventually('both have read all', () =>
        readers.every(({ items }) => items.length === 6),
      );
      await streamManager.cleanupToStep(streamId, 2);
      for (const read of readers) {
        const error = await refuses(read.done, 'stream_truncated');
        ok(error instanceof StreamTruncatedError);
        equal([error.truncatedAtStep, error.atSequence], [2, 6]);
      }
      const late = collect(await readerOf(setup));
      await writer.write(textChunk('end', 3));
      await streamManager.endStream(streamId);
      await late.done;
      equal(textOf(late.items), '1 1 2 2 end');
    });

    it('a reader that started after the removed chunks is not disturbed', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await threeSteps(setup);
      await writer.write(textChunk('1b', 1));
      const reader = await streamManager.createResumableReader(streamId, { fromSequence: 6 });
      const read = collect(reader);
      await eventually('it is live', () => read.items.length === 1);
      await streamManager.cleanupToStep(streamId, 1);
      await streamManager.endStream(streamId);
      await read.done;
      includes(read.items, [{ chunk: { delta: '1b' } }]);
    });

    it('a stream that does not exist is not created', async ({ streamManager, streamId }) => {
      equal(await streamManager.cleanupToStep(streamId, 0), 0);
      equal(await streamManager.getStreamInfo(streamId), null);
    });
  });
}
