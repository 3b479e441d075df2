import { ok } from 'node:assert/strict';
import { StreamTruncatedError } from '../../../protocol/errors.js';
import { equal, eventually, includes, refuses } from '../assertions.js';
import { AGENT, approval, textChunk, textOf } from '../fixtures.js';
import { collect, type Collected } from './collect.js';
import type { Case, Suite } from '../suite.js';
import type { StoredChunk, StreamReader } from '../../log/stream-manager.js';

async function readerOf({ streamManager, streamId }: Case): Promise<StreamReader> {
  return streamManager.createReader(streamId);
}

function readerCases({ describe, it }: Suite): void {
  describe('stream readers', () => {
    it('a stream that does not exist has no reader', async ({ streamManager, streamId }) => {
      await refuses(streamManager.createReader(streamId), 'not_found');
      equal(await streamManager.createResumableReader(streamId), null);
    });

    it('a reader starts at the first chunk, then reads live until the end', async (setup) => {
      const { streamManager, streamId, another } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('before '));
      const reader = await readerOf({ ...setup, ...(await another()) });
      const read = collect(reader);
      await eventually('the log is read', () => read.items.length === 1);
      equal([reader.status, reader.currentSequence, reader.totalChunks], ['active', 1, 1]);
      await writer.write(textChunk('live'));
      await eventually('it is live', () => read.items.length === 2);
      await streamManager.endStream(streamId);
      await read.done;
      equal(textOf(read.items), 'before live');
      equal([reader.status, reader.currentSequence], ['ended', 2]);
    });

    it('a reader ends at a pause, and a new one starts after it', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [first, firstRead] = await start(setup);
      await streamManager.pauseStream(streamId);
      await firstRead.done;
      equal([first.status, textOf(firstRead.items)], ['paused', 'a']);

      const [resting, restingRead] = await start(setup);
      await restingRead.done;
      equal([resting.status, textOf(restingRead.items)], ['paused', 'a']);

      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      const [second, secondRead] = await start(setup);
      await eventually('the old pause is passed', () => secondRead.items.length === 2);
      await streamManager.endStream(streamId);
      await secondRead.done;
      equal([second.status, textOf(secondRead.items)], ['ended', 'ab']);
    });

    it('a reader ends at a pause that is over before it looks, since the log has it', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [reader, read] = await start(setup);
      await eventually('it is live', () => read.items.length === 1);
      await Promise.all([
        streamManager.pauseStream(streamId),
        streamManager.resumeStream(streamId),
      ]);
      await writer.write(textChunk('b'));
      await read.done;
      equal([reader.status, textOf(read.items)], ['paused', 'a']);
    });

    it('a reader learns that the stream has failed, and why', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [live, liveRead] = await start(setup);
      const why = (length: number): string => `out of paper ${'🙂'.repeat(length)}`;
      await streamManager.failStream(streamId, why(2_000));
      await liveRead.done;
      // The text is cut between two characters.
      equal([live.status, live.error, textOf(liveRead.items)], ['failed', why(1_017), 'a']);
      const [late, lateRead] = await start(setup);
      await lateRead.done;
      equal([late.status, late.error, textOf(lateRead.items)], ['failed', why(1_017), 'a']);
      equal(await streamManager.createResumableReader(streamId), null);
    });

    it("a session's reader ends at the pause and end of its run", async (setup) => {
      const { session } = setup;
      const onSession = { ...setup, streamId: session.id };
      const { runId } = await session.newRun();
      const [paused, pausedRead] = await start(onSession);
      await session.ask(runId, 1, [approval('a')]);
      await pausedRead.done;
      equal([paused.status, pausedRead.items.at(-1)?.type], ['paused', 'run_paused']);
      await session.decide(runId, 'a', false);
      const [ended, endedRead] = await start(onSession);
      await session.ask(runId, 2, []);
      await endedRead.done;
      equal([ended.status, endedRead.items.at(-1)?.type], ['ended', 'step_end']);
    });

    it('a reader ends when it is closed or its signal fires, also before it began', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [closing, closingRead] = await start(setup);
      await eventually('it is live', () => closingRead.items.length === 1);
      await closing.close();
      await closingRead.done;

      const controller = new AbortController();
      const reader = await streamManager.createReader(streamId, { signal: controller.signal });
      const read = collect(reader);
      await eventually('it is live', () => read.items.length === 1);
      controller.abort();
      await read.done;
      const aborted = await streamManager.createReader(streamId, { signal: AbortSignal.abort() });
      const nothing = collect(aborted);
      await nothing.done;
      equal(nothing.items, []);
    });

    it('all readers read the same, wherever they join, while writers write', async (setup) => {
      const { streamManager, streamId, another } = setup;
      const other = await another();
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const words = Array.from({ length: 400 }, (_, n) => `${String(n)} `);
      const reads = [await start(setup)];
      for (const [n, word] of words.entries()) {
        await writer.write(textChunk(word));
        if (n % 20 === 0) reads.push(await start(n % 40 === 0 ? setup : { ...setup, ...other }));
      }
      await streamManager.endStream(streamId);
      for (const [reader, read] of reads) {
        await read.done;
        equal([reader.status, textOf(read.items)], ['ended', words.join('')]);
      }
    });

    it('leaving an iteration does not affect other readers', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [, stays] = await start(setup);
      for await (const chunk of await readerOf(setup)) {
        includes(chunk, { delta: 'a' });
        break;
      }
      await writer.write(textChunk('b'));
      await streamManager.endStream(streamId);
      await stays.done;
      equal(textOf(stays.items), 'ab');
    });
  });
}

async function start(setup: Case) {
  const reader = await readerOf(setup);
  return [reader, collect(reader)] as const;
}

async function resume({ streamManager, streamId }: Case, fromSequence?: number) {
  const options = fromSequence === undefined ? {} : { fromSequence };
  const reader = await streamManager.createResumableReader(streamId, options);
  if (reader === null) throw new Error('the stream does not exist');
  return { reader, read: collect(reader) };
}

const sequences = ({ items }: Collected<StoredChunk>): number[] =>
  items.map(({ sequence }) => sequence);

function resumableReaderCases({ describe, it }: Suite): void {
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

/** Writes two chunks each of steps 1, 2 and 3. */
async function threeSteps({ streamManager, streamId }: Case) {
  const writer = await streamManager.createWriter(streamId, 'a', AGENT);
  for (const step of [1, 1, 2, 2, 3, 3]) await writer.write(textChunk(`${String(step)} `, step));
  return writer;
}

function truncationCases({ describe, it }: Suite): void {
  describe('cleanupToStep', () => {
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

function streamInfoCases({ describe, it }: Suite): void {
  describe('stream info and getters', () => {
    it('a stream that does not exist has no info', async ({ streamManager, streamId }) => {
      equal(await streamManager.getStreamInfo(streamId), null);
      equal(await streamManager.inspect(streamId), undefined);
      equal(await streamManager.getAllChunks(streamId), []);
      equal(await streamManager.getChunksFromStep(streamId, 1), []);
      equal(await streamManager.getChunksFromSequence(streamId, 0), []);
    });

    it('chunks are returned from a step and after a sequence', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (const step of [1, 2, 2, 3]) await writer.write(textChunk(String(step), step));
      equal(textOf(await streamManager.getChunksFromStep(streamId, 2)), '223');
      equal(textOf(await streamManager.getChunksFromSequence(streamId, 3)), '3');
      equal(textOf(await streamManager.getChunksFromSequence(streamId, 99)), '');
    });

    it("a session's chunks are returned from a step of its newest turn", async (setup) => {
      const { streamManager, session } = setup;
      for (const turn of ['old', 'new']) {
        const { writer } = await session.claimed();
        await session.say(writer, 1, turn);
        await session.commit(writer);
      }
      equal(textOf(await streamManager.getChunksFromStep(session.id, 1)), 'new');
      equal(textOf(await streamManager.getAllChunks(session.id)), 'oldnew');
    });
  });

  describe('ending and pausing', () => {
    it('the first end counts', async ({ streamManager, streamId, session }) => {
      await streamManager.createWriter(streamId, 'a', AGENT);
      await streamManager.endStream(streamId, { answer: 42 });
      await streamManager.failStream(streamId, 'too late');
      await streamManager.pauseStream(streamId);
      equal(await streamManager.getStreamInfo(streamId), {
        status: 'ended',
        totalChunks: 0,
        latestSequence: 1,
      });
      includes(await streamManager.read(streamId, 0, 10), [
        { message: { type: 'stream_end', finalOutput: { answer: 42 } } },
      ]);
      await streamManager.createWriter(session.id, 'a', AGENT);
      await streamManager.failStream(session.id, 'why');
      await streamManager.endStream(session.id);
      includes(await streamManager.getStreamInfo(session.id), { status: 'failed', error: 'why' });
    });

    it('a stream with an active run, and one that does not exist, are refused', async (setup) => {
      const { streamManager, streamId, session } = setup;
      await session.newRun();
      const before = await session.record();
      await refuses(streamManager.endStream(session.id), 'stream_owned');
      await refuses(streamManager.failStream(session.id, 'x'), 'stream_owned');
      await refuses(streamManager.pauseStream(session.id), 'stream_owned');
      await refuses(streamManager.resumeStream(session.id), 'stream_owned');
      equal(await session.record(), before);
      await refuses(streamManager.endStream(streamId), 'not_found');
      await refuses(streamManager.pauseStream(streamId), 'not_found');
    });
  });
}

export function streamReaderCases(suite: Suite): void {
  readerCases(suite);
  resumableReaderCases(suite);
  truncationCases(suite);
  streamInfoCases(suite);
}
