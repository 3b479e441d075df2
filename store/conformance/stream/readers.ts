import { equal, includes, eventually, refuses } from '../assertions.js';
import { AGENT, approval, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import type { StreamReader } from '../../log/stream-manager.js';
import { collect } from './collect.js';

export async function readerOf({ streamManager, streamId }: Case): Promise<StreamReader> {
  return streamManager.createReader(streamId);
}

export function readerCases({ describe, it }: Suite): void {
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
      await streamManager.failStream(streamId, 'out of paper');
      await liveRead.done;
      equal([live.status, live.error, textOf(liveRead.items)], ['failed', 'out of paper', 'a']);
      const [late, lateRead] = await start(setup);
      await lateRead.done;
      equal([late.status, late.error, textOf(lateRead.items)], ['failed', 'out of paper', 'a']);
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
