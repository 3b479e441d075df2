import { ok } from 'node:assert/strict';
import { StreamTruncatedError } from '../../../protocol/errors.js';
import { equal, includes, refuses } from '../assertions.js';
import { eventually } from '../eventually.js';
import { AGENT, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { collect } from './collect.js';
import { readerOf } from './readers.js';

/** Chunks of steps 1, 2 and 3, two each. */
async function threeSteps({ streamManager, streamId }: Case) {
  const writer = await streamManager.createWriter(streamId, 'a', AGENT);
  for (const step of [1, 1, 2, 2, 3, 3]) await writer.write(textChunk(`${String(step)} `, step));
  return writer;
}

export function truncationCases({ describe, it }: Suite): void {
  describe('cleanupToStep', () => {
    it('removes the chunks of later steps and says how many', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await threeSteps(given);
      equal(await streamManager.cleanupToStep(streamId, 1), 4);
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 ');
      equal(await streamManager.cleanupToStep(streamId, 1), 0);
      await writer.write(textChunk('2b', 2));
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 2b');
      const info = await streamManager.getStreamInfo(streamId);
      equal(info?.totalChunks, 3);
      ok((info?.latestSequence ?? 0) > 6);
    });

    it('tells attached readers once, and those that come later nothing', async (given) => {
      const { streamManager, streamId, another } = given;
      const writer = await threeSteps(given);
      const readers = [
        collect(await readerOf(given)),
        collect(await readerOf({ ...given, ...(await another()) })),
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
      const late = collect(await readerOf(given));
      await writer.write(textChunk('end', 3));
      await streamManager.endStream(streamId);
      await late.done;
      equal(textOf(late.items), '1 1 2 2 end');
    });

    it('does not disturb a reader that began behind what was removed', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await threeSteps(given);
      await writer.write(textChunk('1b', 1));
      const reader = await streamManager.createResumableReader(streamId, { fromSequence: 6 });
      const read = collect(reader);
      await eventually('it is live', () => read.items.length === 1);
      await streamManager.cleanupToStep(streamId, 1);
      await streamManager.endStream(streamId);
      await read.done;
      includes(read.items, [{ chunk: { delta: '1b' } }]);
    });

    it('leaves what stands up to minSequence', async (given) => {
      const { streamManager, streamId } = given;
      await threeSteps(given);
      equal(await streamManager.cleanupToStep(streamId, 1, { minSequence: 4 }), 2);
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 2 2 ');
    });

    it('takes only the chunks of one agent when it is told so', async (given) => {
      const { streamManager, streamId } = given;
      await threeSteps(given);
      const other = await streamManager.createWriter(streamId, 'b', AGENT);
      await other.write(textChunk('of b', 3, 'b'));
      equal(await streamManager.cleanupToStep(streamId, 0, { agentId: 'b' }), 1);
      equal(await streamManager.cleanupToStep(streamId, 2, { agentId: 'agent' }), 2);
      equal(textOf(await streamManager.getAllChunks(streamId)), '1 1 2 2 ');
    });

    it('of a stream that is not there removes nothing and makes none', async (given) => {
      const { streamManager, streamId } = given;
      equal(await streamManager.cleanupToStep(streamId, 0), 0);
      equal(await streamManager.getStreamInfo(streamId), null);
    });
  });
}
