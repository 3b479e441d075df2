import { equal, includes, refuses } from '../assertions.js';
import { eventually } from '../eventually.js';
import { AGENT, textChunk, textOf } from '../fixtures.js';
import type { Case, Suite } from '../suite.js';

const say = async (given: Case): Promise<string> =>
  textOf(await given.streamManager.getAllChunks(given.streamId));

export function writerCases({ describe, it }: Suite): void {
  describe('stream writers', () => {
    it('keep the order of writes, also of those that were not waited for', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const words = Array.from({ length: 300 }, (_, n) => `${String(n)} `);
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal(await say(given), words.join(''));
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 300 });
    });

    it('take more at once than goes into one append', async (given) => {
      const writer = await given.streamManager.createWriter(given.streamId, 'a', AGENT);
      const words = Array.from({ length: 12 }, (_, n) => String(n % 10).repeat(40_000));
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal((await say(given)) === words.join(''), true);
    });

    it('of different names write side by side, without names too', async (given) => {
      const { streamManager, streamId } = given;
      const writers = [
        await streamManager.createWriter(streamId, 'a', AGENT, { name: 'one' }),
        await streamManager.createWriter(streamId, 'b', AGENT, { name: 'two' }),
        await streamManager.createWriter(streamId, 'c', AGENT),
        await streamManager.createWriter(streamId, 'd', AGENT),
      ];
      for (const [n, writer] of writers.entries()) await writer.write(textChunk(String(n)));
      for (const [n, writer] of writers.entries()) await writer.write(textChunk(String(n)));
      equal(await say(given), '01230123');
    });

    it('give way to a later attempt of the same name, which withdraws what they left', async (given) => {
      const { streamManager, streamId, another } = given;
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
      equal(await say(given), 'kept new');
      const chunks = await streamManager.getAllChunks(streamId);
      equal(
        chunks.map(({ type }) => type),
        ['text_delta', 'step_discarded', 'stream_resync', 'text_delta'],
      );
    });

    it('of an earlier attempt are refused from the start', async ({ streamManager, streamId }) => {
      const name = 'research';
      await streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 3 });
      await refuses(
        streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 }),
        'writer_fenced',
      );
    });

    it('leave what they wrote when they are closed', async (given) => {
      const { streamManager, streamId } = given;
      const name = 'research';
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name });
      const writing = first.write(textChunk('kept '));
      await first.close();
      await writing;
      await first.close();
      await refuses(first.write(textChunk('late')), 'writer_closed');
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 });
      await next.write(textChunk('and more'));
      equal(await say(given), 'kept and more');
      equal((await streamManager.getAllChunks(streamId)).length, 2);
    });

    it('are refused while the stream is paused, and go on afterwards', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.pauseStream(streamId);
      await refuses(writer.write(textChunk('refused')), 'stream_paused');
      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      equal(await say(given), 'ab');
    });

    it('have no voice after the end; a new one opens the stream again', async (given) => {
      const { streamManager, streamId } = given;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.endStream(streamId);
      await refuses(writer.write(textChunk('late')), 'writer_fenced');
      const next = await streamManager.createWriter(streamId, 'a', AGENT);
      includes(await streamManager.getStreamInfo(streamId), { status: 'active', totalChunks: 1 });
      await next.write(textChunk('b'));
      equal(await say(given), 'ab');
      // One for the end between them: numbers are never given twice.
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 3 });
    });

    it('take a write at whatever moment it comes', async ({ streamManager, streamId }) => {
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

    it('of one name and attempt are never two: the second is told, nothing is lost', async (given) => {
      const { streamManager, streamId } = given;
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await first.write(textChunk('first'));
      const open = streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await refuses(open, 'writer_fenced');
      await first.write(textChunk(' second'));
      equal(await say(given), 'first second');
      await first.close();
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await next.write(textChunk(' third'));
      equal(await say(given), 'first second third');
    });

    it('beside a run leave its session as it is, and are gone when it ends', async (given) => {
      const { store, streamManager, session } = given;
      const { runId } = await session.newRun();
      const before = await store.sessions.read(session.id);
      const writer = await streamManager.createWriter(session.id, session.id, AGENT);
      await writer.write(textChunk('a note'));
      includes(await store.sessions.read(session.id), {
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
