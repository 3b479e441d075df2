import { equal, includes, refuses, eventually } from '../assertions.js';
import { AGENT, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

const say = async (setup: Case): Promise<string> =>
  textOf(await setup.streamManager.getAllChunks(setup.streamId));

export function writerCases({ describe, it }: Suite): void {
  describe('stream writers', () => {
    it('writes keep their order, also those that were not awaited', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const words = Array.from({ length: 450 }, (_, n) => `${String(n)} `);
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal(await say(setup), words.join(''));
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 450 });
    });

    it('more writes than fit into one append are stored', async (setup) => {
      const writer = await setup.streamManager.createWriter(setup.streamId, 'a', AGENT);
      const words = Array.from({ length: 12 }, (_, n) => String(n % 10).repeat(40_000));
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal((await say(setup)) === words.join(''), true);
    });

    it('a later attempt of the same name withdraws what earlier ones wrote', async (setup) => {
      const { streamManager, streamId, another } = setup;
      const name = 'research';
      const old = await streamManager.createWriter(streamId, 'a', AGENT, { name });
      const beside = await streamManager.createWriter(streamId, 'a', AGENT);
      await old.write(textChunk('gone '));
      await beside.write(textChunk('kept '));
      await old.write(textChunk('too '));
      const young = await (
        await another()
      ).streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 });
      await refuses(old.write(textChunk('zombie')), 'writer_fenced');
      await refuses(old.write(textChunk('zombie')), 'writer_fenced');
      await young.write(textChunk('new'));
      equal(await say(setup), 'kept new');
      const chunks = await streamManager.getAllChunks(streamId);
      equal(
        chunks.map(({ type }) => type),
        ['text_delta', 'step_discarded', 'stream_resync', 'text_delta'],
      );
    });

    it('entries stay when a writer is closed', async (setup) => {
      const { streamManager, streamId } = setup;
      const name = 'research';
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name });
      const writing = first.write(textChunk('kept '));
      await first.close();
      await writing;
      await first.close();
      await refuses(first.write(textChunk('late')), 'writer_closed');
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 });
      await next.write(textChunk('and more'));
      equal(await say(setup), 'kept and more');
      equal((await streamManager.getAllChunks(streamId)).length, 2);
    });

    it('writes are refused while the stream is paused and accepted afterwards', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.pauseStream(streamId);
      await refuses(writer.write(textChunk('refused')), 'stream_paused');
      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      equal(await say(setup), 'ab');
    });

    it('an old writer is refused after the end, and a new one reopens the stream', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.endStream(streamId);
      await refuses(writer.write(textChunk('late')), 'writer_fenced');
      const next = await streamManager.createWriter(streamId, 'a', AGENT);
      includes(await streamManager.getStreamInfo(streamId), { status: 'active', totalChunks: 1 });
      await next.write(textChunk('b'));
      equal(await say(setup), 'ab');
      // The end between them has a number too; numbers are never reused.
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 3 });
    });

    it('a write is accepted at whatever moment it comes', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (let turns = 0; turns < 60; turns += 1) {
        const first = writer.write(textChunk('a'));
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        let isStored = false;
        const second = writer.write(textChunk('b')).then(() => (isStored = true));
        await eventually('the write is stored', () => isStored, 5_000);
        await Promise.all([first, second]);
      }
    });

    it('a second writer of the same name and attempt is refused, and nothing is lost', async (setup) => {
      const { streamManager, streamId } = setup;
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await first.write(textChunk('first'));
      const open = streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await refuses(open, 'writer_fenced');
      await first.write(textChunk(' second'));
      equal(await say(setup), 'first second');
      await first.close();
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await next.write(textChunk(' third'));
      equal(await say(setup), 'first second third');
    });

    it('a writer beside a run leaves its session unchanged and is refused after the run', async (setup) => {
      const { streamManager, session } = setup;
      const { runId } = await session.newRun();
      const before = await session.record();
      const writer = await streamManager.createWriter(session.id, session.id, AGENT);
      await writer.write(textChunk('a note'));
      includes(await session.record(), {
        status: before?.status,
        stream: before?.stream,
        sequence: (before?.sequence ?? 0) + 1,
      });
      await session.end(runId, 'completed');
      await refuses(writer.write(textChunk('late')), 'writer_fenced');
      const open = streamManager.createWriter(session.id, session.id, AGENT);
      await refuses(open, 'stream_ended');
    });
  });
}
