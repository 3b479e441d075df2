import { equal, refuses, eventually } from '../assertions.js';
import { AGENT, textChunk } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import { collect, type Collected } from './collect.js';
import type { StoredChunk } from '../../log/stream-manager.js';

async function resume({ streamManager, streamId }: Case, fromSequence?: number) {
  const options = fromSequence === undefined ? {} : { fromSequence };
  const reader = await streamManager.createResumableReader(streamId, options);
  if (reader === null) throw new Error('the stream does not exist');
  return { reader, read: collect(reader) };
}

const sequences = ({ items }: Collected<StoredChunk>): number[] =>
  items.map(({ sequence }) => sequence);

export function resumableReaderCases({ describe, it }: Suite): void {
  describe('resumable readers', () => {
    it('a reader returns what follows a sequence, with numbers, then reads live', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (const text of ['a', 'b', 'c']) await writer.write(textChunk(text));
      const { reader, read } = await resume(setup, 2);
      await writer.write(textChunk('d'));
      await streamManager.endStream(streamId);
      await read.done;
      equal(sequences(read), [3, 4]);
      equal([reader.status, reader.currentSequence, reader.totalChunks], ['ended', 4, 3]);
    });

    it('a reader starts at the first chunk by default, and after the last one returns nothing', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (const text of ['a', 'b']) await writer.write(textChunk(text));
      await streamManager.pauseStream(streamId);
      const all = await resume(setup);
      await all.read.done;
      equal([sequences(all.read), all.reader.status], [[1, 2], 'paused']);
      const none = await resume(setup, 3);
      await none.read.done;
      equal([sequences(none.read), none.reader.currentSequence], [[], 3]);
    });

    it('readers resume one another without gap or duplicate, however often they leave', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const seen: number[] = [];
      for (let n = 0; n < 60; n += 1) {
        await writer.write(textChunk(String(n)));
        if (n % 7 !== 6) continue;
        const { reader, read } = await resume(setup, seen.at(-1) ?? 0);
        await eventually('something came', () => read.items.length > 0);
        await reader.close();
        await read.done;
        seen.push(...sequences(read));
      }
      const { read } = await resume(setup, seen.at(-1));
      await streamManager.endStream(streamId);
      await read.done;
      equal(
        [...seen, ...sequences(read)],
        Array.from({ length: 60 }, (_, n) => n + 1),
      );
    });

    it('a position that the stream has not reached is refused', async (setup) => {
      const { streamManager, streamId } = setup;
      await streamManager.createWriter(streamId, 'a', AGENT);
      await refuses(streamManager.createResumableReader(streamId, { fromSequence: 1 }), 'rewound');
    });

    it('a pause ends a reader once', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const first = await resume(setup);
      await streamManager.pauseStream(streamId);
      await first.read.done;
      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      const second = await resume(setup, first.reader.currentSequence);
      await streamManager.endStream(streamId);
      await second.read.done;
      equal([second.reader.status, second.read.items.length], ['ended', 1]);
    });
  });
}
