import { equal, includes } from '../assertions.js';
import { eventually } from '../eventually.js';
import { AGENT, newCall, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';
import type { StreamReader } from '../../log/stream-manager.js';
import { collect } from './collect.js';

export async function readerOf({ streamManager, streamId }: Case): Promise<StreamReader> {
  const reader = await streamManager.createReader(streamId);
  if (reader === null) throw new Error('there is no such stream');
  return reader;
}

export function readerCases({ describe, it }: Suite): void {
  describe('stream readers', () => {
    it('are none for a stream that is not there', async ({ streamManager, streamId }) => {
      equal(await streamManager.createReader(streamId), null);
      equal(await streamManager.createResumableReader(streamId), null);
    });

    it('read from the first chunk, then live, until the end', async (given) => {
      const { streamManager, streamId, another } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('before '));
      const reader = await readerOf({ ...given, ...(await another()) });
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

    it('end at a pause, and begin anew beyond it', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [first, firstRead] = await start(given);
      await streamManager.pauseStream(streamId);
      await firstRead.done;
      equal([first.status, textOf(firstRead.items)], ['paused', 'a']);

      const [resting, restingRead] = await start(given);
      await restingRead.done;
      equal([resting.status, textOf(restingRead.items)], ['paused', 'a']);

      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      const [second, secondRead] = await start(given);
      await eventually('the old pause is passed', () => secondRead.items.length === 2);
      await streamManager.endStream(streamId);
      await secondRead.done;
      equal([second.status, textOf(secondRead.items)], ['ended', 'ab']);
    });

    it('end at a pause that is over before they look: it stands in the log', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [reader, read] = await start(given);
      await eventually('it is live', () => read.items.length === 1);
      await Promise.all([
        streamManager.pauseStream(streamId),
        streamManager.resumeStream(streamId),
        writer.write(textChunk('b')).catch(() => undefined),
      ]);
      await read.done;
      equal([reader.status, textOf(read.items)], ['paused', 'a']);
    });

    it('are told that a stream has failed, and why', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [live, liveRead] = await start(given);
      await streamManager.failStream(streamId, 'out of paper');
      await liveRead.done;
      equal([live.status, live.error, textOf(liveRead.items)], ['failed', 'out of paper', 'a']);
      const [late, lateRead] = await start(given);
      await lateRead.done;
      equal([late.status, late.error, textOf(lateRead.items)], ['failed', 'out of paper', 'a']);
      equal(await streamManager.createResumableReader(streamId), null);
    });

    it("of a session end at its run's pause and end", async (given) => {
      const { session } = given;
      const onSession = { ...given, streamId: session.id };
      const { runId } = await session.newRun();
      const [paused, pausedRead] = await start(onSession);
      await session.ask(runId, 1, [newCall('a', 'approval')]);
      await pausedRead.done;
      equal([paused.status, pausedRead.items.at(-1)?.type], ['paused', 'run_paused']);
      await session.decide(runId, 'a', false);
      const [ended, endedRead] = await start(onSession);
      await session.ask(runId, 2, []);
      await endedRead.done;
      equal([ended.status, endedRead.items.at(-1)?.type], ['ended', 'step_end']);
    });

    it('end when they are closed or their signal fires, also before they began', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [closing, closingRead] = await start(given);
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

    it('all read the same, wherever they join, while writers write', async (given) => {
      const { streamManager, streamId, another } = given;
      const other = await another();
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const words = Array.from({ length: 400 }, (_, n) => `${String(n)} `);
      const reads = [await start(given)];
      for (const [n, word] of words.entries()) {
        await writer.write(textChunk(word));
        if (n % 20 === 0) reads.push(await start(n % 40 === 0 ? given : { ...given, ...other }));
      }
      await streamManager.endStream(streamId);
      for (const [reader, read] of reads) {
        await read.done;
        equal([reader.status, textOf(read.items)], ['ended', words.join('')]);
      }
    });

    it('leave the iteration without harm to others', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      const [, stays] = await start(given);
      for await (const chunk of await readerOf(given)) {
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

async function start(given: Case) {
  const reader = await readerOf(given);
  return [reader, collect(reader)] as const;
}
