import fc from 'fast-check';
import { equal, includes, eventually } from '../assertions.js';
import { newSessionId, textOf } from '../fixtures.js';
import type { Suite } from '../suite.js';
import { liveStream, toModelEntry } from './stream-life.js';
import { streamEvents } from './stream-events.js';

export function streamProperties({ describe, it, runs }: Suite): void {
  describe('under any sequence of writers, attempts, repeats and kills', () => {
    it('a stream equals the reference list, and followers have seen all of it', async (setup) => {
      const { streamManager } = setup;
      await fc.assert(
        fc.asyncProperty(streamEvents, async (events) => {
          const streamId = newSessionId();
          const { model, followers } = await liveStream(streamManager, streamId, events);
          try {
            const log = await streamManager.read(streamId, 0, 10_000);
            equal(log.map(toModelEntry), model.entries);
            if (model.status !== undefined) {
              includes(await streamManager.getStreamInfo(streamId), {
                status: model.status,
                latestSequence: model.sequence,
                totalChunks: model.entries.filter(({ says }) => !isControl(says)).length,
              });
            }
            const chunks = await streamManager.getAllChunks(streamId);
            const words = model.entries.filter(({ writer }) => writer !== '');
            equal(textOf(chunks), words.map(({ says }) => says).join(''));

            for (const { from, log: follower } of followers) {
              const due = model.entries.filter(({ sequence }) => sequence > from);
              const last = due.at(-1)?.sequence ?? from;
              // Followers may also have seen entries that were withdrawn later; they have seen all
              // that remain.
              await eventually(
                'the follower has come to the end',
                () => last <= (follower.entries.at(-1)?.sequence ?? from),
              );
              const seen = follower.entries.map(({ sequence }) => sequence);
              equal(
                seen,
                [...new Set(seen)].sort((a, b) => a - b),
                'in order, each once',
              );
              equal(
                follower.entries.map(toModelEntry),
                seen.map((sequence) => model.written.get(sequence)),
              );
              const standing = new Set(due.map(({ sequence }) => sequence));
              equal(
                seen.filter((sequence) => standing.has(sequence)),
                [...standing],
              );
            }
          } finally {
            await Promise.all(followers.map(({ log }) => log.stop()));
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

function isControl(says: string): boolean {
  return says === 'stream_end' || says === 'stream_status' || says === 'stream_truncated';
}
